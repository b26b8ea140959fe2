// Kernels that only device code names: what they call stays with them.
__device__ __noinline__ int last(int x) { return x * 7 + clock(); }
__device__ __noinline__ int helper(int x) { return last(x) + 3; }
__device__ __noinline__ int other_last(int x) { return x * 5 + clock(); }
__device__ __noinline__ int listed(int x) { return other_last(x) + 1; }
__global__ void by_address(int* p) { p[0] = helper(p[1]); }
__global__ void unnamed(int* p) { p[0] = last(p[2]); }
__global__ void used(int* p)
{
    p[0] = 1;
    *(void**)(p + 2) = (void*)by_address;
    *(void**)(p + 4) = (void*)listed;
}
__global__ void used_too(int* p) { p[0] = 2; }
void host(int* p) { used<<<1, 1>>>(p); used_too<<<1, 1>>>(p); }
