#include <cub/device/device_select.cuh>
#include "steps.h"

cudaError_t heavy(void *temporary, size_t &bytes, const Record *in, Record *out, int *count, int n) {
  return cub::DeviceSelect::If(temporary, bytes, in, out, count, n, Heavy{2.0f});
}
