#include "group.h"

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) fixed(const int *in, int *out) {
  __shared__ int own;
  if (threadIdx.x == 0) own = in[blockIdx.x];
  arrive_and_wait();
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum_of_cluster(&own);
}
