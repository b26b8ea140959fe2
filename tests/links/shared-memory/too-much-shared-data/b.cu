__device__ __noinline__ int f(int x) { __shared__ int s[7000]; s[x] = x; __syncthreads(); return s[x + 1]; }
__device__ __noinline__ int g(int x) { __shared__ int s[6000]; s[x] = x; __syncthreads(); return s[x + 1]; }
