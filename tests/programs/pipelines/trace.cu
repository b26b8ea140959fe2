#include "stages.h"

__device__ unsigned stages_seen[32];
static __device__ int last;

__device__ void note_stage(int stage) {
  stages_seen[stage & 31] += 1;
  last = stage;
}

__global__ void show_last(int *out) { *out = last; }
