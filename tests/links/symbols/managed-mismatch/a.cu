extern __device__ int shared_by_both[2];
__global__ void ka() { shared_by_both[0] = 1; }
