// The build makes its references to `table` others.
__device__ int table[8];

__global__ void a(int *out) { out[1] = table[out[0] & 7]; }
