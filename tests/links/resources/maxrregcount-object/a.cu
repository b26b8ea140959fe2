__device__ float wide(const float *p);
__global__ void small(float *p) { *p = wide(p); }
__global__ void __launch_bounds__(1024) bounded(float *p) { *p = wide(p + 1); }
