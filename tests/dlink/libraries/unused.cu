__device__ int unused(int a) { return a - 1; }
__global__ void of_unused(int *p) { *p = unused(*p); }
