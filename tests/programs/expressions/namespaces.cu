#include "vector.h"

namespace outer {
inline namespace v2 {
__device__ __noinline__ int chosen(int x) { return x + unit<int>; }
}
namespace v1 {
__device__ __noinline__ int chosen(int x) { return x - unit<short>; }
}
extern "C" __device__ int plain_c(int x) { return outer::chosen(x) * v1::chosen(x); }
}  // namespace outer

namespace {
struct Hidden {
  float value;
  __device__ __noinline__ float twice() const { return value * 3; }
};
__device__ Hidden hidden{2.5f};
}  // namespace

extern "C" __global__ void namespaces(int *out) { *out = outer::plain_c(*out) + int(hidden.twice()); }
