#include <cub/block/block_reduce.cuh>
#include "parts.h"

__device__ Summary summary_of(float value) {
  using Reduce = cub::BlockReduce<Summary, THREADS>;
  __shared__ typename Reduce::TempStorage storage;
  return Reduce(storage).Reduce(Summary{value, value, value}, Join{});
}
