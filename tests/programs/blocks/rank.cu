#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_histogram.cuh>
#include <cuda/std/functional>
#include "parts.h"

__device__ int rank_of(int key, int *shared) {
  atomicAdd(&shared[key & 31], 1);
  __syncthreads();
  return shared[key & 31];
}

__global__ void runs(const int *in, int *flags, unsigned *bins) {
  using Edges = cub::BlockDiscontinuity<int, THREADS>;
  using Bins = cub::BlockHistogram<unsigned char, THREADS, 1, 32>;
  __shared__ typename Edges::TempStorage edges;
  __shared__ typename Bins::TempStorage storage;
  __shared__ unsigned counted[32];
  __shared__ int ranks[32];
  int item[1] = {in[threadIdx.x]}, flag[1];
  Edges(edges).FlagHeads(flag, item, cuda::std::not_equal_to<int>());
  unsigned char small[1] = {(unsigned char)(item[0] & 31)};
  Bins(storage).Histogram(small, counted);
  __syncthreads();
  flags[threadIdx.x] = flag[0] * rank_of(item[0], ranks);
  if (threadIdx.x < 32) bins[threadIdx.x] = counted[threadIdx.x];
}
