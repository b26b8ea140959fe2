#include "vector.h"

template struct Traits<double>;
template struct Traits<short>;

namespace {
struct Hidden {
  int value;
  __device__ __noinline__ int twice() const { return value * 2; }
};
__device__ Hidden hidden{4};
}  // namespace

__global__ void traits(double *out) { out[0] = Traits<double>::scaled(out[1]) + hidden.twice(); }
