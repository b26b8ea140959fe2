__device__ float wide(const float *p);
__global__ void small(float *p) { *p = wide(p); }
__global__ void also_small(float *p) { *p = wide(p + 1); }
