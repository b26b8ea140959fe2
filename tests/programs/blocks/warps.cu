#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include "parts.h"

__global__ void warps(const int *in, int *out) {
  __shared__ cub::WarpReduce<int>::TempStorage reduce[THREADS / 32];
  __shared__ cub::WarpScan<int, 16>::TempStorage scan[THREADS / 16];
  int value = in[threadIdx.x], before;
  int sum = cub::WarpReduce<int>(reduce[threadIdx.x / 32]).Sum(value);
  cub::WarpScan<int, 16>(scan[threadIdx.x / 16]).ExclusiveSum(value, before);
  out[threadIdx.x] = sum + before + __reduce_max_sync(0xffffffff, value);
}
