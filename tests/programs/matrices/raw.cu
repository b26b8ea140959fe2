#include "tiles.h"

__global__ void raw(const unsigned *a, const unsigned *b, float *d, int steps) {
  float sum[4] = {};
  for (int step = 0; step < steps; ++step) {
    unsigned x[4], y[2];
    for (int i = 0; i < 4; ++i) x[i] = a[(step * 32 + threadIdx.x) * 4 + i];
    for (int i = 0; i < 2; ++i) y[i] = b[(step * 32 + threadIdx.x) * 2 + i];
    mma_step(sum, x, y);
  }
  for (int i = 0; i < 4; ++i) d[threadIdx.x * 4 + i] = sum[i];
}
