#include <thrust/reduce.h>
#include <thrust/sort.h>
#include "points.h"

__device__ int cell_of(Point p) { return int(floorf(p.x)) * 64 + int(floorf(p.y)); }

void by_cell(thrust::device_vector<int> &cells, thrust::device_vector<float> &values) {
  thrust::sort_by_key(cells.begin(), cells.end(), values.begin());
  thrust::device_vector<int> keys(cells.size());
  thrust::device_vector<float> sums(cells.size());
  thrust::reduce_by_key(cells.begin(), cells.end(), values.begin(), keys.begin(), sums.begin());
}
