__device__ int h1 = 1, h2 = 2; static __device__ int h3=7; extern __device__ int g4;
__global__ void j1(int*p){ *p = h1 + h3 + g4; }
__global__ void j2(int*p){ *p = h2; }
