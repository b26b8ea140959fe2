extern __device__ int values[4];
extern __device__ int longer[9];
__global__ void ka(int *p) { *p = values[*p] + longer[*p]; }
