__device__ int twice_there(int x) { return x + 1; }
__device__ int second_one(int x) { return x + 1; }
__global__ void kernel(int *p) { *p = twice_there(*p) + second_one(4); }
