__global__ void store(int *out) { *out = 1; }
