#pragma once
#include <cuda_fp16.h>

constexpr int SIDE = 16;

extern __device__ void scale_tile(float *tile, float factor);
extern __device__ void mma_step(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]);
