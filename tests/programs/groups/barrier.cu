#include <cuda/barrier>

#include <cstdio>

__device__ void arrive(int count) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  barrier.arrive_and_wait();
  if (threadIdx.x == 0) printf("%d steps\n", count);
}
