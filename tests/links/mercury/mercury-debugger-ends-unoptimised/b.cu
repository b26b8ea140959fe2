__device__ __noinline__ int outside(int value)
{
    return value * value + 1;
}
