static __device__ int state = 3;
static __device__ __noinline__ int helper(int a) { return a - state++; }
__global__ void third(int *p) { *p = helper(*p); }
