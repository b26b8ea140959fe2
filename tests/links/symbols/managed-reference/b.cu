extern __device__ int shared_by_both;
__global__ void kb() { shared_by_both = 2; }
