#include "kinds.h"

__device__ double gamma_of(double x) { return tgamma(x) + lgamma(x) * erfc(x); }

__global__ void doubles(double *x, double y) {
  double v = x[threadIdx.x];
  x[threadIdx.x] = fma(v, y, fmod(v, y)) + cbrt(v) / y + cyl_bessel_i0(v) + normcdfinv(v) + 1.0 / sqrt(v);
  x[threadIdx.x + 32] = gamma_of(v) + remainder(v, 3.0) + ldexp(v, 4) + nextafter(v, y);
}
