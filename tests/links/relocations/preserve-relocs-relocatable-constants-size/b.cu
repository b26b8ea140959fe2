__constant__ int table[5] = {1, 2, 3};

__global__ void read(int *values)
{
    values[threadIdx.x] = table[values[0]];
}
