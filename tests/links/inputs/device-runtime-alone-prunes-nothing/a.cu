__device__ int runtime(int);
__global__ void k(int *p) { *p = runtime(2); }
