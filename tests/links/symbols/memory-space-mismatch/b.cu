__device__ int where = 3;
__global__ void kb(int *p) { *p = where; }
