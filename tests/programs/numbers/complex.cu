#include "kinds.h"

__device__ Complex root_of(Complex z) { return cuda::std::sqrt(z) + cuda::std::exp(-z); }

__global__ void roots(const Complex *z, Complex *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = root_of(z[i]) / cuda::std::abs(z[i]);
}
