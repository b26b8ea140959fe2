// Kernels whose limits the build sets; limits of device functions do not count.
__device__ __attribute__((noinline)) int use(int x, int *p)
{
    volatile int room[8];
    for (int i = 0; i < 8; i++)
        room[i] = p[i] + x;
    return room[x & 7];
}

__device__ __attribute__((noinline)) int again(int x, int *p)
{
    volatile int here = p[x & 7];
    return x ? again(x - 1, p) + here : use(x, p);
}

extern "C" __global__ void below(int *p) { p[0] = 1; }
extern "C" __global__ void above(int *p) { p[0] = use(p[1], p); }
extern "C" __global__ void unknown(int *p) { p[0] = again(p[1], p); }
