#include <cstdio>
#include "tree.h"

__global__ void query(int *out) {
  int device = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(out, cudaDevAttrMultiProcessorCount, device);
  cudaFuncAttributes attributes;
  if (cudaFuncGetAttributes(&attributes, walk) != cudaSuccess) {
    printf("no attributes: %s\n", cudaGetErrorString(cudaGetLastError()));
  }
  out[1] = attributes.numRegs;
  int *more = nullptr;
  cudaMalloc(&more, 64);
  cudaMemsetAsync(more, 0, 64, cudaStreamFireAndForget);
  cudaFree(more);
}
