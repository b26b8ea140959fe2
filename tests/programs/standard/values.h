#pragma once
#include <cuda/std/array>
#include <cuda/std/optional>
#include <cuda/std/tuple>

using Row = cuda::std::array<float, 4>;

extern __device__ cuda::std::optional<int> first_above(const Row& row, float limit);
extern __device__ cuda::std::tuple<float, int> largest(const Row& row);
extern __device__ double magnitude(double re, double im);
extern __device__ float kind(int which, float value);
