__device__ __noinline__ int g(int x)
{
    return x * x + 17;
}
