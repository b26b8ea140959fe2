__device__ int even(int n);
__device__ __noinline__ int odd(int n) { volatile int keep[6]; keep[n % 6] = n; return n == 0 ? 0 : even(n - 1) + keep[2]; }
__global__ void from_b(int *p) { *p = odd(*p); }
