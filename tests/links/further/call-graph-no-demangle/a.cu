typedef int (*Function)(int);
__device__ int counter = 3;
__device__ int scratch[10];
__constant__ int factors[4];
__device__ Function table[2];
__device__ int other_unit(int x) { return x; };
static __device__ __noinline__ int plus(int x) { return x + counter; }
__device__ __noinline__ int times(int x) { return x * counter; }
__device__ __noinline__ int recursive(int x) { volatile int b[10]; b[x % 10] = x; return x < 2 ? 1 : recursive(x - 1) * b[x % 7]; }
__global__ void fill() { table[0] = times; table[1] = plus; }
__global__ void direct(int *p) { __shared__ int s[8]; s[threadIdx.x] = p[0]; __syncthreads(); p[0] = times(s[1]) + other_unit(p[1]) + factors[p[0]]; }
__global__ void indirect(int *p) { volatile int b[33]; b[p[0]] = 3; p[0] = table[p[1]](p[2]) + recursive(p[3]) + b[p[4]]; }
__device__ int unused(int x) { return plus(x) + scratch[x]; }
