extern __shared__ int dynamic[];

__device__ __noinline__ int fetched(int index)
{
    return dynamic[index];
}
