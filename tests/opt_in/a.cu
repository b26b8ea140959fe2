// Input of tests/it/opt_in.rs; built with `nvcc -rdc=true -cubin -arch=sm_90 -lineinfo a.cu -o a.cubin`.
__device__ int used_by_a = 1;
__device__ int unused_initialised[64] = {1, 2, 3};
__device__ int unused_zero[256];
__device__ int behind_unused = 7;
__device__ int target_of_pointer = 3;
__device__ int *pointer_that_is_used = &target_of_pointer;
__device__ int target_of_unused = 4;
__device__ int *pointer_that_is_not = &target_of_unused;
__constant__ float unused_constants[32] = {1.0f};
__constant__ float used_constants[4] = {1.0f, 2.0f};

extern "C" __device__ int from_b(int);

extern "C" __device__ __noinline__ int same_one(int x) { return x * 3 + used_by_a; }
extern "C" __device__ __noinline__ int same_two(int x) { return x * 3 + used_by_a; }
extern "C" __device__ __noinline__ int other(int x) { return x * 5 + used_by_a; }
extern "C" __device__ __noinline__ int calls_one(int x) { return same_one(x) + 1; }
extern "C" __device__ __noinline__ int calls_two(int x) { return same_two(x) + 1; }
extern "C" __device__ __noinline__ int calls_other(int x) { return other(x) + 1; }
extern "C" __device__ __noinline__ int address_one(int x) { return x ^ 21; }
extern "C" __device__ __noinline__ int address_two(int x) { return x ^ 21; }

extern "C" __device__ int helper(int x) { return x - 8; }

extern "C" __global__ void kernel_a(int *out, int x)
{
    int (*pointer)(int) = x > 3 ? address_one : address_two;
    *out = calls_one(x) + calls_two(x) + calls_other(x) + pointer(x) + from_b(x) + behind_unused + *pointer_that_is_used;
    out[1] = (int)used_constants[x & 3];
}
extern "C" __global__ void twin_a(int *out) { *out = 12; }
extern "C" __global__ void twin_b(int *out) { *out = 12; }
