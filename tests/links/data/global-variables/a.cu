extern __device__ int counter;
extern __device__ float table[16];
extern __device__ int *pointer;
static __device__ int hidden = 7;
__device__ char byte_value = 3;
__device__ double wide[3] = {1.0, 2.0, 3.0};
__global__ void use(float *out) {
    out[0] = table[threadIdx.x] + counter + *pointer + hidden++ + byte_value + (float)wide[threadIdx.x & 1];
}
