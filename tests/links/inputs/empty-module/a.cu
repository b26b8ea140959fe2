__device__ int f(int x);
__global__ void run(int *out) { *out = f(*out); }
