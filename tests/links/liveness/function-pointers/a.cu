typedef int (*Unary)(int); typedef float (*Binary)(float, float); typedef void (*Sink)(int *, long long);
extern __device__ Unary table[4];
extern __device__ Binary chosen;
__device__ Sink pick(int i);
__global__ void dispatch(int *p) { p[threadIdx.x] = table[threadIdx.x & 3](p[threadIdx.x]); }
__global__ void binary(float *p) { *p = chosen(p[1], p[2]); }
__global__ void sink(int *p) { pick(*p)(p, 5); }
