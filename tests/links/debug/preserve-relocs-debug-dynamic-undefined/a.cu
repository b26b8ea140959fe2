// Debug information refers to dynamic shared memory, whose name is no symbol of the output. `s` is in no kernel alone.
__device__ __attribute__((noinline)) int f(int x)
{
    __shared__ int s[9];
    s[x & 7] = x;
    __syncthreads();
    return s[(x + 1) & 7];
}

__global__ void kernel(int *p)
{
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = dynamic[threadIdx.x ^ 1] + f(p[3]);
}

__global__ void other(int *p) { p[3] = f(p[4]); }

__device__ int missing(int x);

__global__ void third(int *p) { *p = missing(*p); }
