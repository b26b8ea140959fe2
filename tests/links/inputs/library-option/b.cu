__device__ int dead(int x) { return x * 5; }
__device__ int helper(int x) { return x * 3; }
static __global__ void never_launched(int *p) { *p = dead(*p); }
__global__ void other(int *p) { *p = helper(1); }
