#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ __noinline__ int neighbour(int v) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    return tile.shfl_xor(v, 3) + cg::coalesced_threads().size();
}
__global__ void grid_wide(int *p) { cg::this_grid().sync(); p[threadIdx.x] = neighbour(*p); cg::this_thread_block().sync(); }
