extern __device__ int counter;
__constant__ int limit = 7;
static __device__ int state[3] = {1, 2, 3};
__device__ int step(int value) { __shared__ int seen[4]; seen[value & 3] = value; return seen[0] + state[1]++; }
__global__ void first(int *out) { *out = step(*out) + counter + limit; }
