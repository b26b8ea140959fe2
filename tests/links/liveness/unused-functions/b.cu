__device__ int leftover = 3;
__device__ __noinline__ int used(int x) { return x ^ 5; }
__device__ __noinline__ float never(float x, int y) { return x * y; }
__device__ __noinline__ int unused_caller(int x) { __shared__ int s[8]; s[x & 7] = leftover; __syncthreads(); return (int)never(s[1], x); }
