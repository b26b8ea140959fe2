#pragma once
#include <cuda/std/optional>
#include <cuda/std/span>

struct Word {
  const char *begin;
  unsigned length;
};

extern __device__ cuda::std::optional<Word> next_word(cuda::std::span<const char> &rest);
extern __device__ unsigned hash_of(Word word);
extern __device__ bool same(Word a, const char *b);
inline __constant__ char SEPARATORS[] = " \t\n.,;";
