#pragma once
#include <cuda/std/array>
#include <cuda/std/expected>
#include <cuda/std/mdspan>
#include <cuda/std/tuple>
#include <cuda/std/utility>
#include <cuda/std/variant>

using Value = cuda::std::variant<int, float, cuda::std::array<short, 4>>;
enum class Fault { Empty, Range };
using Matrix = cuda::std::mdspan<float, cuda::std::extents<int, cuda::std::dynamic_extent, 8>>;

extern __device__ float as_float(const Value &value);
extern __device__ cuda::std::expected<float, Fault> at(Matrix matrix, int row, int column);
extern __device__ cuda::std::tuple<float, float> bounds(Matrix matrix);
