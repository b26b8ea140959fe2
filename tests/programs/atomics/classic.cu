#include "counters.h"

// The functions of the language itself beside those of the library.
__global__ void classic(int *a, unsigned *b, float *c, double *d, unsigned long long *e) {
  __shared__ int best;
  if (threadIdx.x == 0) best = 0;
  __syncthreads();
  atomicMax_block(&best, a[threadIdx.x]);
  atomicAdd(c, 1.5f);
  atomicAdd(d, 2.5);
  atomicInc(b, 100);
  atomicCAS(e, 0ull, 7ull);
  atomicXor_system(b + 1, 0x55u);
  atomicExch(a, best);
  __threadfence_system();
  count(8);
}
