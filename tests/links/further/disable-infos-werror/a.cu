__device__ __noinline__ int recursive(int x) { volatile int b[10]; b[x % 10] = x; return x < 2 ? 1 : recursive(x - 1) * b[x % 7]; }
__global__ void kernel(int *p) { p[0] = recursive(p[1]); }
