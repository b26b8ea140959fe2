extern __device__ int fetched(int index);

__global__ void fetch(int *values)
{
    values[threadIdx.x] = fetched(values[threadIdx.x]);
}
