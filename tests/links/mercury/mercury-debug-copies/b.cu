template <class T> __device__ __noinline__ T cube(T value)
{
    T square = value * value;
    return square * value;
}

__global__ void cubes_b(int *values)
{
    values[threadIdx.x] = cube(values[threadIdx.x]) * 7;
}
