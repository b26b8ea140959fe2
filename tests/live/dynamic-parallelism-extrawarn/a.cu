#include <cstdio>

__global__ void leaf(int *p, int i) { p[i] = i; }

__global__ void fill(char *p, long n) {
    cudaMemsetAsync(p, 3, n);
    cudaMemcpyAsync(p + n, p, n, cudaMemcpyDeviceToDevice);
}

__global__ void launches(int *p) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    leaf<<<1, 32, 0, stream>>>(p, 1);
    cudaStreamDestroy(stream);
    if (cudaGetLastError() != cudaSuccess) printf("not launched\n");
}

// Nobody launches it.
__global__ void forgotten(int *p) { leaf<<<1, 1>>>(p, 2); }

void host(int *p, char *q) {
    launches<<<1, 1>>>(p);
    fill<<<1, 1>>>(q, 1 << 10);
}
