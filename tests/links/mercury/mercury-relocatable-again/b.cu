__device__ int counter = 3;
static __device__ int state = 4;
__device__ int step(int value);
__global__ void second(int *out) { *out = step(state) + counter; }
