__device__ __noinline__ int factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1) + n % 7; }
__global__ void direct(int *p) { *p = factorial(*p); }
