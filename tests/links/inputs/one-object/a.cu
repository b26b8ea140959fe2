__device__ int state = 4;
__device__ __noinline__ int step(int x) { return x * state + 1; }
__global__ void run(int *out) { *out = step(*out); }
