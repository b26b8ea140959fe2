__device__ int f(int); extern "C" __global__ void k(int *o){ *o = f(threadIdx.x); }
extern "C" __global__ void k2(){}
