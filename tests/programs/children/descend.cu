#include "tree.h"

__device__ void descend(const Task &task, int child) {
  if (child < 0 || task.depth > 20) return;
  Task next = task;
  next.root = child;
  next.depth += 1;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  walk<<<1, 32, 0, stream>>>(next);
  cudaStreamDestroy(stream);
}
