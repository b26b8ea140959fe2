// Kernels and the host program; the filter itself is in b.cu.
#include "filter.cuh"

#include <cstdio>

__device__ float brightest = 0.0f;

__device__ __noinline__ float luminance(const Pixel &pixel) {
    return 0.2126f * pixel.r + 0.7152f * pixel.g + 0.0722f * pixel.b;
}

__global__ void blur(const Pixel *in, Pixel *out, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width) return;
    out[x] = apply_filter(in, x, width);
    atomicAdd(&pixels_done, 1ull);
}

__global__ void find_brightest(const Pixel *in, int width) {
    __shared__ float best[256];
    float mine = 0.0f;
    for (int x = threadIdx.x; x < width; x += blockDim.x) mine = fmaxf(mine, luminance(in[x]));
    best[threadIdx.x] = mine;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) best[threadIdx.x] = fmaxf(best[threadIdx.x], best[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) brightest = clamp_to(best[0], 0.0f, 1.0f);
}

void launch_histogram(const Pixel *in, int *bins, int width);

int main() {
    constexpr int width = 1024;
    Pixel *in = nullptr, *out = nullptr;
    int *bins = nullptr;
    cudaMallocManaged(&in, width * sizeof(Pixel));
    cudaMallocManaged(&out, width * sizeof(Pixel));
    cudaMallocManaged(&bins, 16 * sizeof(int));
    for (int x = 0; x < width; x++) in[x] = {x / float(width), 0.5f, 1.0f - x / float(width)};
    blur<<<width / 256, 256>>>(in, out, width);
    find_brightest<<<1, 256>>>(out, width);
    launch_histogram(out, bins, width);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::printf("no device ran the kernels\n");
        return 1;
    }
    float result = 0;
    cudaMemcpyFromSymbol(&result, brightest, sizeof result);
    std::printf("brightest %f, %d pixels in bin 8\n", result, bins[8]);
    return 0;
}
