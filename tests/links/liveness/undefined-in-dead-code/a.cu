__device__ int nowhere(int x);
__device__ int dead(int x) { return nowhere(x); }
__global__ void run(int *p) { *p = 4; }
