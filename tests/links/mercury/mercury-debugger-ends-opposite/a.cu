// Ends that some threads reach, after what only the others did: they do not wait for it. Arrivals at
// the barrier of a cluster are followed by the end's barriers at once.
#include <cuda_runtime.h>

template <typename T>
__global__ void sums(T *out, const T *in) {
    __shared__ T s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 2) s[t] += s[t + 2];
    __syncthreads();
    if (t == 0) s[t] += s[t + 1];
    __syncthreads();
    if (t != 0) return;
    out[blockIdx.x] = s[0];
}

template __global__ void sums(int *, const int *);
template __global__ void sums(float *, const float *);

extern "C" __global__ void arrives() { asm volatile("barrier.cluster.arrive.relaxed;"); }
