#include "text.h"

__device__ const char *const keywords[] = {"if", "else", "while", "for", "return"};

__device__ bool same(Word a, const char *b) {
  unsigned i = 0;
  for (; i < a.length && b[i]; ++i)
    if (a.begin[i] != b[i]) return false;
  return i == a.length && !b[i];
}

__global__ void keywords_in(const char *text, unsigned n, int *found) {
  cuda::std::span<const char> rest(text, n);
  while (auto word = next_word(rest))
    for (int k = 0; k < 5; ++k)
      if (same(*word, keywords[k])) atomicAdd(&found[k], 1);
}
