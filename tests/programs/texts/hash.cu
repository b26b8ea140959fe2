#include "text.h"

__constant__ unsigned long long primes[] = {1099511628211ull, 14695981039346656037ull};

__device__ unsigned hash_of(Word word) {
  unsigned long long h = primes[1];
  for (unsigned i = 0; i < word.length; ++i) h = (h ^ (unsigned char)word.begin[i]) * primes[0];
  return unsigned(h ^ h >> 32);
}
