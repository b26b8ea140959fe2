__device__ void both(int *p);
__global__ void ka(int *p) { both(p); }
