__constant__ int filler[31] = {1, 2, 3};
__global__ void kf(int *p, int i) { *p = filler[i]; }
