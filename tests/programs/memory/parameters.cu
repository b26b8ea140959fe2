#include "layout.h"

__device__ __noinline__ int reads_big(const Big &big, int at) { return big.values[at]; }

__global__ void by_value(Big big, int at, int *out) { *out = big.values[at] + reads_big(big, at + 1); }

__global__ void by_constant(const __grid_constant__ Big big, Wide wide, char c, long long l, int *out) {
  *out = reads_big(big, c) + int(wide.a.w) + int(l);
}

__global__ void __launch_bounds__(256, 2) bounded(int *out) { out[threadIdx.x] = flag; }
__global__ void __maxnreg__(40) few_registers(int *out) { out[threadIdx.x] = inline_counter * shared_count; }
