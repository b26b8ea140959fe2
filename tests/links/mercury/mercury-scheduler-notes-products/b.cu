__constant__ double scales[4] = {1, 2, 3, 4};

__device__ double finish(double sum)
{
    return sum * scales[threadIdx.x & 3];
}
