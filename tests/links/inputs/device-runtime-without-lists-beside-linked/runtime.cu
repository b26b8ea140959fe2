// Stands for the device runtime: any path that contains "cudadevrt" does.
__device__ int runtime(int a) { return a * 3; }
static __global__ void own(int *p) { *p = 2; }
__global__ void unused(int *p) { *p = 3; }
void host(int *p) { own<<<1, 1>>>(p); }
