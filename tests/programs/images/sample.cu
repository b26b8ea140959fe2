#include "picture.h"

__device__ float4 sample(const Picture &picture, float x, float y) {
  return tex2D<float4>(picture.pixels, x / picture.width, y / picture.height);
}
__device__ unsigned char quantised(float value) { return (unsigned char)(__saturatef(value) * 255.0f); }
