__device__ int counter;
__device__ float table[16] = {1, 2, 3, 4};
__device__ int target[4];
__device__ int *pointer = &target[2];
static __device__ int hidden[5];
__device__ short unused_short;
__global__ void fill(int v) { hidden[threadIdx.x] = v; target[threadIdx.x] = hidden[v]; counter = v; }
