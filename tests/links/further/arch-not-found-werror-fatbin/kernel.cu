__global__ void kernel(int *p) { *p = 1; }
