extern __device__ int shared_step(int value);
extern __shared__ int dynamic[];
__constant__ double weights[4] = {1.5, 2.5};

__device__ __noinline__ double scaled(double value)
{
    return value * 3.25 + weights[1];
}

__global__ void named_first(double *values)
{
    values[threadIdx.x] = scaled(values[0]) + shared_step(dynamic[0]);
}

__global__ void left_with_shared(int *values)
{
    __shared__ int tile[40];
    tile[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = shared_step(tile[39 - threadIdx.x]) + dynamic[1];
}

__global__ void left_plain(double *values)
{
    values[1] = scaled(values[2]);
}
