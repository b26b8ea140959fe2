#include "scale.cuh"
__device__ int g(int);
__global__ void k(int *p) { p[0] = scale<int>(p[1]) + g(p[2]); }
