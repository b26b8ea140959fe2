__global__ void both(int *p) { *p = 1; }
