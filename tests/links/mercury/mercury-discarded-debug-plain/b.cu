// A later copy of f: an addition with carry has more Mercury than a logical operation, and both are plain items.
inline __device__ __noinline__ int f(int *p, long a, long b)
{
    int s = 1;
    {
        long t = a + b;
        s = s + (int)t;
        {
            int u = p[1];
            s = s + u;
        }
    }
    return s;
}

__global__ void second(int *p)
{
    *p = f(p, p[2], p[3]);
}
