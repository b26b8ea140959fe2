__device__ int nobody_needs = 3;
__global__ void in_archive(int *p) { *p = nobody_needs; }
