// The copy of f that is linked.
inline __device__ __noinline__ int f(int *p, int n)
{
    int s = 1;
    for (int i = 0; i < n; ++i) {
        int u = p[i] + i;
        int v = p[i + 9] * n;
        int w = p[v] - s;
        int t = u * 3 + v * w;
        if (t > 4)
            s += t;
    }
    return s;
}

__global__ void first(int *p)
{
    *p = f(p, 7);
}
