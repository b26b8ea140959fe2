#include "kinds.h"

__device__ float wave(float x, int n) { return sinf(x * n) + cosf(x) * tanhf(x) + jnf(n, x); }

__global__ void floats(float *x, float y) {
  float v = x[threadIdx.x];
  x[threadIdx.x] = wave(v, 3) + powf(v, y) + __expf(v) + fdividef(v, y) + rsqrtf(v) + v / y;
  x[threadIdx.x + 32] = __fsqrt_rn(v) + rhypotf(v, y) + erfinvf(v) + sinpif(v) + float(gamma_of(v));
}
