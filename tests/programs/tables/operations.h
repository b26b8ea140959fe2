#pragma once

using Operation = float (*)(float, float);
using Method = int (*)(const int *, unsigned);

extern __device__ float add(float, float);
extern __device__ float multiply(float, float);
extern __constant__ Operation operations[4];
extern __device__ Method methods[];
extern __device__ Operation current;

template <int N>
__device__ float powered(float x, float y) {
  return x * powered<N - 1>(x, y);
}
template <>
__device__ inline float powered<0>(float, float y) {
  return y;
}
