__device__ int local_sum(int a, int b);
__device__ int clampi(int x, int lo, int hi);
__device__ __noinline__ int scale(int x, int by) { return clampi(x * by, -100, 100) + local_sum(x, by); }
__global__ void third(int *out) { out[0] = scale(out[1], out[2]); }
