extern __device__ int d(int*);
__device__ int g1=3; __constant__ int c1=7;
__global__ void k1(int*p){ __shared__ int s[32]; s[threadIdx.x]=p[0]+c1; __syncthreads(); p[1]=d(s)+s[3]+g1; }
