__device__ int f3(int);
__device__ __noinline__ int g1(int x) { __shared__ double s[4]; s[x & 3] = x; __syncthreads(); return (int)s[1]; }
__device__ __noinline__ int g2(int x) { __shared__ int4 s[3]; s[x & 1].x = x; __syncthreads(); return s[0].x; }
__device__ __noinline__ int g3(int x) { __shared__ char s[100]; s[x & 63] = x; __syncthreads(); return s[5] + f3(x); }
