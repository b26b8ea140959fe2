__device__ int state = 1;
__constant__ int limit = 2;
__global__ void ka(int *p) { *p = state + limit; }
