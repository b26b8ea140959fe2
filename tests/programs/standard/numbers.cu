#include <cuda/std/complex>

__device__ double magnitude(double re, double im) {
  cuda::std::complex<double> value(re, im);
  value = exp(value) * cuda::std::conj(value);
  return abs(value);
}
