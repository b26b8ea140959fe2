__device__ int step(int value);
extern __device__ int counter;
__global__ void third(int *out) { *out = step(counter++); }
