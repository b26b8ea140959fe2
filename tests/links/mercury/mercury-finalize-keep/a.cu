// Kernels that nvlink schedules anew: branches and loops, loads, atomics, shared memory, and one
// without a branch, whose code stays.
__shared__ int tile[256];

__global__ void straight(int *out) { out[threadIdx.x] = 1; }

__global__ void guarded(const float *in, float *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = in[i] * 2.f + 1.f;
}

__global__ void reversed(int *data, int count) {
    int i = threadIdx.x;
    if (i < count) tile[i] = data[i];
    __syncthreads();
    if (i < count) data[i] = tile[count - 1 - i];
}

__global__ void counted(const unsigned *in, unsigned *bins, int count) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) atomicAdd(&bins[in[i] & 63], 1u);
}

__global__ void summed(const double *in, double *out, int count) {
    double sum = 0;
#pragma unroll 1
    for (int i = 0; i < count; ++i) sum += in[i * blockDim.x + threadIdx.x];
    out[threadIdx.x] = sqrt(sum);
}
