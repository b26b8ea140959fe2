extern "C" { extern __constant__ int (*table[2])(int); }
extern "C" __global__ void call(int *out) { *out = table[*out](*out); }
