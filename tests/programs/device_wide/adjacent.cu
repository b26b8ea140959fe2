#include <cub/device/device_adjacent_difference.cuh>
#include <cub/device/device_partition.cuh>
#include "steps.h"

cudaError_t steps(void *temporary, size_t &bytes, int *data, int n) {
  return cub::DeviceAdjacentDifference::SubtractLeft(temporary, bytes, data, n);
}
cudaError_t halves(void *temporary, size_t &bytes, const Record *in, Record *out, int *count, int n) {
  return cub::DevicePartition::If(temporary, bytes, in, out, count, n, Heavy{0.5f});
}
