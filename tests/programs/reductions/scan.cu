// Prefix sums over a block and a warp.
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_scan.cuh>

#include "reductions.h"

__device__ int ranks(int value) {
  using Scan = cub::BlockScan<int, 128>;
  using Warp = cub::WarpScan<int>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ typename Warp::TempStorage of_warps[4];
  int all, own;
  Scan(storage).ExclusiveSum(value, all);
  Warp(of_warps[threadIdx.x / 32]).InclusiveSum(value, own);
  return all + own;
}
