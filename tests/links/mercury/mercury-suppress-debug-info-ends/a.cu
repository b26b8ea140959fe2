__global__ void store(int *out) { *out = 1; }
__device__ __noinline__ int twice(int value) { return 2 * value; }
__global__ void call(int *out) { *out = twice(*out); }
