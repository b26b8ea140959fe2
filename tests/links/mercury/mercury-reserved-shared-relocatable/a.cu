__device__ int table[4] = {1, 2, 3, 4};
__constant__ int scale[4] = {5, 6, 7, 8};
extern __device__ int twice(int);
extern "C" __global__ void first(int *out, int n)
{
    __shared__ int part[32];
    part[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[n] = twice(table[n & 3] + scale[n & 3] + part[n & 31]);
}
