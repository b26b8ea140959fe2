__device__ int factor = 7;

__device__ __noinline__ int scaled(int value)
{
    return value * factor + 3;
}
