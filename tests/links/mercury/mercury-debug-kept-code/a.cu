// Where not all threads end a load is pending, and the kernel calls a function.
extern __device__ int outside(int);

extern "C" __global__ void calls(int *out, int count)
{
    if (threadIdx.x > count)
        return;
    out[threadIdx.x] = outside(out[0]) + count;
}

__device__ __noinline__ int outside(int value)
{
    return value * value + 1;
}
