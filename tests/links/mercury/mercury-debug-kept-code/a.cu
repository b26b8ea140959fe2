extern __device__ int scaled(int value);

__device__ __noinline__ int scaled(int value)
{
    return value * 7;
}

__global__ void scale(int *values)
{
    values[threadIdx.x] = scaled(values[threadIdx.x]);
}
