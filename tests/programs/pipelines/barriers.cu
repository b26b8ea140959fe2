#include <cuda/barrier>
#include "stages.h"
namespace cg = cooperative_groups;

__global__ void barriers(const int4 *in, int *out) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ int4 data[128];
  __shared__ Barrier barrier;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&barrier, block.size());
  block.sync();
  cuda::memcpy_async(block, data, in, cuda::aligned_size_t<16>(sizeof(data)), barrier);
  auto token = barrier.arrive();
  note_stage(block.thread_rank());
  barrier.wait(std::move(token));
  int4 mine = data[(block.thread_rank() + 1) % 128];
  out[block.thread_rank()] = mine.x ^ mine.y ^ mine.z ^ mine.w;
}
