__device__ int twice_there(int x) { return x; }
__device__ int second_one(int x) { return x; }
__global__ void kernel(int *p) { *p = twice_there(*p); }
