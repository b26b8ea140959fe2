// Input of tests/it/opt_in.rs; built with `nvcc -rdc=true -cubin -arch=sm_90 -lineinfo b.cu -o b.cubin`.
__device__ int used_by_b = 1;
__device__ int unused_in_b[16] = {9};
extern __device__ int used_by_a;

extern "C" __device__ __noinline__ int same_three(int x) { return x * 3 + used_by_a; }
static __device__ __noinline__ int helper_of_b(int x) { return x + 100; }
extern "C" __device__ int from_b(int x) { return same_three(x) + helper_of_b(x) + used_by_b; }

extern "C" __global__ void kernel_b(int *out, int x) { *out = from_b(x) ; }
