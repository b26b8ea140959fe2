__device__ int runtime(int);
__global__ void k(int *p) { *p = runtime(2); }
__global__ void unlaunched(int *p) { *p = runtime(3); }
void host(int *p) { k<<<1, 1>>>(p); }
