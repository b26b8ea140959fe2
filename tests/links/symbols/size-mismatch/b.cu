__device__ int values[8];
__device__ int longer[3];
__global__ void kb(int *p) { *p = values[*p] + longer[1]; }
