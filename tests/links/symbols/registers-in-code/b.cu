template <class T> __device__ __attribute__((noinline)) T pick(T x) { return x + 1; }

__global__ void b(int *out) { out[1] = pick(out[0]); }
