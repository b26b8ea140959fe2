extern __shared__ int dyn[];
__device__ int d(int*p){ __shared__ int t[8]; t[p[0]]=5; __syncthreads(); return t[p[1]]+dyn[p[2]]; }
__global__ void k2(int*p){ __shared__ double u[4]; u[p[1]]=d(p); p[0]=u[p[2]]+dyn[3]; }
