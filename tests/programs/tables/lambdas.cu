#include "operations.h"

// Callables of every kind that a template takes.
template <typename F>
__device__ __noinline__ float fold(const float *data, int n, F f) {
  float value = data[0];
  for (int i = 1; i < n; ++i) value = f(value, data[i]);
  return value;
}

struct Scaled {
  float factor;
  __device__ float operator()(float x, float y) const { return factor * (x + y); }
};

__global__ void lambdas(const float *data, int n, float *out, float bias) {
  out[0] = fold(data, n, [=] __device__(float x, float y) { return x + y + bias; });
  out[1] = fold(data, n, Scaled{0.5f});
  out[2] = fold(data, n, add);
  Operation chosen = n > 3 ? multiply : powered<5>;
  out[3] = fold(data, n, chosen);
  out[4] = methods[n & 1](reinterpret_cast<const int *>(data), n);
}
