__device__ __noinline__ int is_constant(const void *place)
{
    return __isConstant(place);
}

__global__ void look(int *values)
{
    values[threadIdx.x] = is_constant(values);
}
