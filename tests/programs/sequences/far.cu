#include <thrust/transform_reduce.h>
#include "points.h"

float far_from_origin(const thrust::device_vector<Point> &points) {
  return thrust::transform_reduce(points.begin(), points.end(), Length{}, 0.0f, thrust::maximum<float>());
}
