__device__ int f(int); __device__ int g(int);
__global__ void both(int *p) { *p = f(*p) + g(*p); }
__global__ void both_again(int *p) { __shared__ int own[8]; own[*p & 7] = f(*p) + g(1); __syncthreads(); *p = own[3]; }
__global__ void one(int *p) { *p = f(*p); }
