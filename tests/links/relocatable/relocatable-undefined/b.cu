__device__ int missing_function(int); extern __device__ int missing_variable; __device__ float other_missing(float);

__global__ void kb(int *p) { *p = missing_function(*p) + missing_variable; }
__global__ void kc(float *p) { *p = other_missing(*p); }
