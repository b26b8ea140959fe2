// The results of the atomic operations are not read: which scoreboard those take is not known.
__global__ void leaf(float *sums, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) atomicAdd(sums, 1.f);
}
