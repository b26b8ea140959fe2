__device__ int missing(int);
__device__ int heavy(int);
__device__ __noinline__ int recursive(int x) { volatile int b[10]; b[x % 10] = x; return x < 2 ? 1 : recursive(x - 1) * b[x % 7]; }
__global__ void k_recursive(int *p) { p[0] = recursive(p[1]); }
__global__ void k_shared(int *p) { __shared__ int s[13000]; for (int i = 0; i < 13000; i++) s[i] = p[i]; __syncthreads(); p[0] = s[p[1]] + missing(3); }
__global__ __launch_bounds__(1024, 2) void k_limit(int *p) { p[0] = heavy(p[1]); }
