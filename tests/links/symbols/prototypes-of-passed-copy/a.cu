// The first copy of `pick`, which makes no indirect call.
__device__ __attribute__((noinline)) int twice(int x) { return 2 * x; }
__device__ int (*first)(int) = twice;

template <class T> __device__ __attribute__((noinline)) float pick(T x) { return x; }
template __device__ float pick(int);

__global__ void a(int *out) { out[1] = first(out[0]) + int(pick(out[0])); }
