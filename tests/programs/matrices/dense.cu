#include "tiles.h"

// Matrix product with tiles in shared memory, for several types and sizes.
template <typename T, int N>
__global__ void __launch_bounds__(N *N) dense(const T *a, const T *b, T *c, int size) {
  __shared__ T x[N][N], y[N][N + 1];
  int row = blockIdx.y * N + threadIdx.y, column = blockIdx.x * N + threadIdx.x;
  T sum = 0;
  for (int tile = 0; tile < size / N; ++tile) {
    x[threadIdx.y][threadIdx.x] = a[row * size + tile * N + threadIdx.x];
    y[threadIdx.y][threadIdx.x] = b[(tile * N + threadIdx.y) * size + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < N; ++k) sum += x[threadIdx.y][k] * y[k][threadIdx.x];
    __syncthreads();
  }
  c[row * size + column] = sum;
}
template __global__ void dense<float, 16>(const float *, const float *, float *, int);
template __global__ void dense<double, 8>(const double *, const double *, double *, int);
template __global__ void dense<int, 32>(const int *, const int *, int *, int);
