#include <cuda/pipeline>
#include "stages.h"
namespace cg = cooperative_groups;

__global__ void double_buffer(const float *in, float *out, int tiles) {
  extern __shared__ float tile[];
  auto block = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto pipe = cuda::make_pipeline(block, &state);
  unsigned size = block.size();
  for (int next = 0, done = 0; done < tiles; ++done) {
    for (; next < tiles && next < done + 2; ++next) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, tile + (next % 2) * size, in + next * size, sizeof(float) * size, pipe);
      pipe.producer_commit();
      note_stage(next);
    }
    pipe.consumer_wait();
    unsigned at = done * size + block.thread_rank();
    out[at] = blend(out[at], tile[(done % 2) * size + block.thread_rank()]);
    pipe.consumer_release();
  }
}
