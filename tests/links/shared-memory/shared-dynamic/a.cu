extern __shared__ int dynamic[];
__device__ int take(int i);
__global__ void both(int *out) {
    __shared__ int fixed[7];
    fixed[threadIdx.x % 7] = out[0];
    dynamic[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = take(threadIdx.x) + fixed[3];
}
__global__ void through_call(int *out) { out[0] = take(out[1]); }
__global__ void none(int *out) { out[0] = 1; }
