__device__ int odd(int n);
__device__ __noinline__ int factorial(int n) { volatile int keep[4]; keep[n & 3] = n; return n <= 1 ? 1 : n * factorial(n - 1) + keep[1]; }
__device__ __noinline__ int even(int n) { return n == 0 ? 1 : odd(n - 1) + n % 3; }
__global__ void direct(int *p) { *p = factorial(*p); }
__global__ void mutual(int *p) { *p = even(*p); }
__global__ void neither(int *p) { *p = 3; }
