// `big` is edited to have a frame of 4 GiB less a byte: what calls it has its own frame less a byte.
__device__ __noinline__ int big(int x) {
    volatile int frame[4];
    frame[x & 3] = x;
    return frame[0];
}
__device__ __noinline__ int middle(int x) {
    volatile int frame[8];
    frame[x & 7] = big(x);
    return frame[0];
}
extern "C" {
__global__ void direct(int *out) { *out = big(*out); }
__global__ void both(int *out) { *out = middle(*out) + big(1); }
__device__ int (*table[1])(int) = {middle};
__global__ void indirect(int *out) { *out = table[*out](*out); }
}
