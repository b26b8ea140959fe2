__device__ __noinline__ int f1(int x) { __shared__ int s[10]; s[x & 7] = x; __syncthreads(); return s[1]; }
__device__ __noinline__ int f2(int x) { __shared__ short s[21]; s[x & 7] = x; __syncthreads(); return s[2]; }
__device__ __noinline__ int f3(int x) { __shared__ char s[13]; s[x & 7] = x; __syncthreads(); return s[3]; }
