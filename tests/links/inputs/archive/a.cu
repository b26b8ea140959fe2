__device__ int helper(int);
__device__ int kept = 1;
static __global__ void hidden(int *p) { *p = helper(2); }
static __global__ void hidden_unused(int *p) { *p = 7; }
__global__ void launched(int *p) { *p = helper(*p) + kept; }
__global__ void public_kernel(int *p) { *p = helper(5); }
template <typename T> __global__ void generic(T *p) { *p += 1; }
void launch(int *p, float *f) { hidden<<<1, 1>>>(p); launched<<<1, 1>>>(p); generic<<<1, 1>>>(f); }
