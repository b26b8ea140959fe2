__device__ int f(int); __device__ int g(int);
__global__ void alpha(int *p) { *p = f(*p); }
__global__ void beta(int *p) { *p = g(*p); }
__global__ void alpha_beta(int *p) { *p = g(*p) + f(1); }
