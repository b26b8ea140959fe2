__global__ void other() {}
__device__ int helper() { return 1; }
