#include <cuda/std/limits>
#include "holders.h"

__device__ cuda::std::tuple<float, float> bounds(Matrix matrix) {
  float low = cuda::std::numeric_limits<float>::max(), high = cuda::std::numeric_limits<float>::lowest();
  for (int i = 0; i < matrix.extent(0); ++i)
    for (int j = 0; j < 8; ++j) {
      low = fminf(low, at(matrix, i, j).value_or(low));
      high = fmaxf(high, at(matrix, i, j).value_or(high));
    }
  return {low, high};
}
