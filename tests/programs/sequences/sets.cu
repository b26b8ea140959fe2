#include <thrust/set_operations.h>
#include <thrust/unique.h>
#include "points.h"

int common(thrust::device_vector<int> &a, thrust::device_vector<int> &b, thrust::device_vector<int> &out) {
  auto end = thrust::set_intersection(a.begin(), a.end(), b.begin(), b.end(), out.begin());
  return int(thrust::unique(out.begin(), end) - out.begin());
}
