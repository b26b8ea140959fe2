__global__ void run(int *p) { *p = 1; }
