#include "holders.h"

__device__ cuda::std::expected<float, Fault> at(Matrix matrix, int row, int column) {
  if (matrix.extent(0) == 0) return cuda::std::unexpected(Fault::Empty);
  if (row >= matrix.extent(0) || column >= 8) return cuda::std::unexpected(Fault::Range);
  return matrix(row, column);
}
