__device__ int f(int x)
{
    int y = x * 3;
    return y + 1;
}
