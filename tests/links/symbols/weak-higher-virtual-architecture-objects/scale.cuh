template <class T> __device__ __noinline__ T scale(T x)
{
    __shared__ T s[8];
    s[threadIdx.x & 7] = x;
    __syncthreads();
    return s[3] * 3;
}
