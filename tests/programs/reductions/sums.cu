// Sums over a block, of several types.
#include <cub/block/block_reduce.cuh>

#include "reductions.h"

template <typename T>
__device__ T block_sum(T value) {
  using Reduce = cub::BlockReduce<T, 128>;
  __shared__ typename Reduce::TempStorage storage;
  return Reduce(storage).Sum(value);
}

__device__ int sum_int(int value) { return block_sum(value); }
__device__ double sum_double(double value) { return block_sum(value); }
__device__ unsigned long long sum_long(unsigned long long value) { return block_sum(value); }
