// The program: its kernel calls a function of scale.cu, which calls one of the library.
#include <cstdio>

__device__ int scale(int value);

__global__ void work(int *value) { *value = scale(*value); }

int main() {
    int *value = nullptr;
    cudaMallocManaged(&value, sizeof *value);
    if (value) *value = 5;
    work<<<1, 1>>>(value);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::puts("no device ran the kernel");
        return 1;
    }
    std::printf("%d\n", *value);
    return 0;
}
