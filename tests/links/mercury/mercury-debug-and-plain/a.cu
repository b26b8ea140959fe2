extern __device__ int scaled(int value);

__global__ void scale(int *values)
{
    values[threadIdx.x] = scaled(values[threadIdx.x]);
}
