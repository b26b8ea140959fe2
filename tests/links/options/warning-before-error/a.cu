__device__ int lost(int);
__device__ __noinline__ int loop(int n) { return n <= 1 ? 1 : n * loop(n - 1) + n % 7; }
__global__ void run(int *p) { *p = loop(*p) + lost(1); }
