__device__ int f1(int); __device__ int f2(int); __device__ int f3(int);
__device__ int g1(int); __device__ int g2(int); __device__ int g3(int);
__global__ void k1(int *p) { p[0] = f1(p[1]) + f2(p[2]); }
__global__ void k2(int *p) { p[0] = f2(p[1]) + g1(p[2]); }
__global__ void k3(int *p) { __shared__ int own[9]; own[threadIdx.x % 9] = p[3]; __syncthreads(); p[0] = f3(own[1]) + g2(p[2]); }
__global__ void k4(int *p) { p[0] = g3(p[1]) + f1(p[4]); }
