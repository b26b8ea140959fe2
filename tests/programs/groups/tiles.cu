#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

__device__ float tile_sum(float value) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  return cg::reduce(tile, value, cg::plus<float>());
}

__device__ int tile_rank(int value) {
  auto active = cg::coalesced_threads();
  return cg::exclusive_scan(active, value) + active.thread_rank();
}
