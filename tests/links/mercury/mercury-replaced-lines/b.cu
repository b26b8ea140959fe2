// The copy of f that is linked.
inline __device__ __noinline__ int f(int *p, int n)
{
    int s = 0;
    for (int i = 0; i < n; ++i) {
        int t = p[i] * 3;
        s += t;
    }
    return s;
}

__global__ void second(int *p)
{
    *p = f(p, 5);
}
