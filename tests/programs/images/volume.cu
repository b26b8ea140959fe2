#include "picture.h"

__global__ void volume(cudaTextureObject_t space, cudaTextureObject_t layers, cudaTextureObject_t sky, float *out) {
  float t = threadIdx.x * 0.1f;
  out[threadIdx.x] = tex3D<float>(space, t, t, t) + tex2DLayered<float>(layers, t, t, 2) +
                     texCubemap<float>(sky, t, 1.0f, -t) + tex1Dfetch<float>(space, threadIdx.x) +
                     tex2DLod<float>(layers, t, t, 1.0f) + tex2Dgather<float4>(layers, t, t, 1).w;
}
