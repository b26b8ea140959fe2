#include "layout.h"

__device__ void swap_words(int a, int b) {
  __shared__ int kept;
  if (threadIdx.x == 0) {
    kept = dynamic_words[a];
    dynamic_words[a] = dynamic_words[b];
    dynamic_words[b] = kept;
  }
  __syncthreads();
}

__global__ void shared_kernel(int *out) {
  __shared__ double2 rows[8][9];
  rows[threadIdx.x & 7][threadIdx.x % 9] = make_double2(out[0], out[1]);
  dynamic_words[threadIdx.x] = out[threadIdx.x];
  swap_words(0, threadIdx.x);
  out[threadIdx.x] = dynamic_words[threadIdx.x] + int(rows[0][0].x) + shared_count;
}
