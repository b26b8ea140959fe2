#include "operations.h"

static __device__ int sum(const int *data, unsigned n) {
  int all = 0;
  for (unsigned i = 0; i < n; ++i) all += data[i];
  return all;
}
static __device__ int largest(const int *data, unsigned n) {
  int best = data[0];
  for (unsigned i = 1; i < n; ++i) best = max(best, data[i]);
  return best;
}
__device__ __noinline__ int nothing(const int *, unsigned) { return 0; }

__device__ Method methods[] = {sum, largest, nothing, nullptr};
