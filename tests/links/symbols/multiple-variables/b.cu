__device__ int state = 1;
__constant__ int limit = 2;
__global__ void kb(int *p) { *p = state + limit; }
