typedef int (*Unary)(int); typedef float (*Binary)(float, float); typedef void (*Sink)(int *, long long);
__device__ int inc(int x) { return x + 1; }
__device__ int dec(int x) { return x - 1; }
static __device__ int neg(int x) { volatile int keep[8]; keep[x & 7] = x; return -keep[2]; }
__device__ int far_away(int x);
__device__ float add(float a, float b) { return a + b; }
__device__ float never_taken(float a, float b) { return a - b; }
__device__ Unary table[4] = {inc, dec, neg, far_away};
__device__ Binary chosen = add;
