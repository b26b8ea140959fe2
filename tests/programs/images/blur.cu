#include "picture.h"

__constant__ float kernel_weights[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};

__global__ void blur(__grid_constant__ const Picture picture) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= picture.width || y >= picture.height) return;
  float4 sum = make_float4(0, 0, 0, 0);
  for (int i = 0; i < 9; ++i) {
    float4 near = sample(picture, x + i % 3 - 1, y + i / 3 - 1);
    sum.x += near.x * kernel_weights[i];
    sum.y += near.y * kernel_weights[i];
    sum.z += near.z * kernel_weights[i];
  }
  surf2Dwrite(make_uchar4(quantised(sum.x), quantised(sum.y), quantised(sum.z), 255), picture.out, x * 4, y);
}
