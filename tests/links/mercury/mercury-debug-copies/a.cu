template <class T> __device__ __noinline__ T cube(T value)
{
    T square = value * value;
    return square * value;
}

__global__ void cubes_a(int *values)
{
    values[threadIdx.x] = cube(values[threadIdx.x]) + 3;
}
