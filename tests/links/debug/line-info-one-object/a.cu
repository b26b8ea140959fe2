__device__ int far(int x);
__device__ __noinline__ int near(int x) { return x * 3 + far(x); }
__device__ int dead(int x) { return x - 9; }
__global__ void run(int *p) {
    *p = near(*p);
    if (p[1] > 4) p[2] = far(p[1]);
}
