#include "holders.h"

struct ToFloat {
  __device__ float operator()(int x) const { return x; }
  __device__ float operator()(float x) const { return x; }
  __device__ float operator()(const cuda::std::array<short, 4> &x) const { return x[0] + x[1] * x[2] - x[3]; }
};

__device__ float as_float(const Value &value) { return cuda::std::visit(ToFloat{}, value); }
