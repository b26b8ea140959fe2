__device__ int f(int);
__global__ void run(int *p) { *p = f(*p); }
