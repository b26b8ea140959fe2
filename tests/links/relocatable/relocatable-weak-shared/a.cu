// Shared variables of templates are weak.
template <class T> __global__ void kernel(T *out)
{
    __shared__ T s[33];
    s[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[32 - threadIdx.x];
}
template __global__ void kernel<int>(int *);

template <class T> __device__ __attribute__((noinline)) T function(T x)
{
    __shared__ T s[7];
    s[threadIdx.x % 7] = x;
    __syncthreads();
    return s[(threadIdx.x + 1) % 7];
}

__global__ void caller(int *out) { out[0] = function(out[1]); }
