#include "text.h"

static __device__ bool separates(char c) {
  for (char s : SEPARATORS)
    if (s == c) return true;
  return false;
}

__device__ cuda::std::optional<Word> next_word(cuda::std::span<const char> &rest) {
  size_t at = 0;
  while (at < rest.size() && separates(rest[at])) ++at;
  size_t end = at;
  while (end < rest.size() && !separates(rest[end])) ++end;
  if (end == at) return cuda::std::nullopt;
  Word word{rest.data() + at, unsigned(end - at)};
  rest = rest.subspan(end);
  return word;
}
