extern "C" __device__ int (*table[1])(int);
extern "C" __global__ void call(int *out) { *out = table[0](*out); }
