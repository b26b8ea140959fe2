#include "stages.h"

__constant__ float weights[2] = {0.25f, 0.75f};

__device__ float blend(float before, float now) {
  return clamp(before * weights[0] + now * weights[1], -1.0f, 1.0f);
}
