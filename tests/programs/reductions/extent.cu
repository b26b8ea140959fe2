// The extent of the values of a block, by an operation of the program's own.
#include <cub/block/block_reduce.cuh>

#include "reductions.h"

__device__ Extent extent(float value) {
  using Reduce = cub::BlockReduce<Extent, 128, cub::BLOCK_REDUCE_RAKING>;
  __shared__ typename Reduce::TempStorage storage;
  return Reduce(storage).Reduce(Extent{value, value}, Merge());
}
