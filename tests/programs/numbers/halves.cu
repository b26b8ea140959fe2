#include "kinds.h"

__device__ __half2 norm(__half2 x) { return h2rsqrt(__hfma2(x, x, __float2half2_rn(1.0f))); }

__global__ void halves(const __half2 *x, __half2 *out, const __nv_bfloat16 *b, float *sums) {
  out[threadIdx.x] = norm(x[threadIdx.x]);
  __nv_bfloat162 two = __halves2bfloat162(b[0], b[1]);
  two = __hmul2(two, two);
  sums[threadIdx.x] = __low2float(two) + __bfloat162float(hlog(b[threadIdx.x]));
  atomicAdd(out, x[threadIdx.x]);
}
