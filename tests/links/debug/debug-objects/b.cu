template <typename T> __device__ __noinline__ T twice(T x) { return x + x; }
__device__ __noinline__ int far(int x) {
    return twice(x) - 1;
}
__global__ void again(int *p) { *p = twice(far(*p)); }
