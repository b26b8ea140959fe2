__device__ int only_f = 4;
__device__ int f(int x) { return x + only_f; }
__device__ __noinline__ int g(int x) { __shared__ int s[4]; s[x & 3] = x; __syncthreads(); return s[0]; }
__global__ void gamma(int *p) { *p = f(2); }
