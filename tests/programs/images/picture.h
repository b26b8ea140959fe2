#pragma once

struct Picture {
  cudaTextureObject_t pixels;
  cudaSurfaceObject_t out;
  int width, height;
};

extern __constant__ float kernel_weights[9];
extern __device__ float4 sample(const Picture &picture, float x, float y);
extern __device__ unsigned char quantised(float value);
