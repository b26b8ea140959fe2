#pragma once
#include <cooperative_groups.h>

// One step of a tiled computation.
extern __device__ float blend(float before, float now);
extern __device__ void note_stage(int stage);
template <typename T>
__device__ T clamp(T value, T low, T high) {
  return value < low ? low : value > high ? high : value;
}
