#include "layout.h"

__constant__ Bits constant_bits[8] = {{1.0f}, {2.0f}};
static __constant__ unsigned char small[3] = {1, 2, 3};
__constant__ double unset;

__global__ void constants(unsigned *out, int i) {
  out[i] = constant_bits[i & 7].u + small[i % 3] + unsigned(unset) + inline_counter;
}
