#include "values.h"

#include <cuda/std/span>

__device__ cuda::std::optional<int> first_above(const Row& row, float limit) {
  cuda::std::span<const float> values(row.data(), row.size());
  for (int index = 0; index < 4; ++index)
    if (values[index] > limit) return index;
  return cuda::std::nullopt;
}

__device__ cuda::std::tuple<float, int> largest(const Row& row) {
  int best = 0;
  for (int index = 1; index < 4; ++index) best = row[index] > row[best] ? index : best;
  return {row[best], best};
}
