__device__ __noinline__ int exchange(int v) {
    __shared__ int box[64];
    __shared__ double wide;
    box[threadIdx.x] = v;
    wide = v;
    __syncthreads();
    return box[63 - threadIdx.x] + (int)wide;
}
