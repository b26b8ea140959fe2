#include <thrust/iterator/counting_iterator.h>
#include <thrust/scan.h>
#include <thrust/transform.h>
#include "points.h"

void offsets(thrust::device_vector<int> &counts, thrust::device_vector<int> &at) {
  thrust::exclusive_scan(counts.begin(), counts.end(), at.begin(), 10);
  auto from = thrust::make_counting_iterator(0);
  thrust::transform(from, from + int(at.size()), at.begin(), at.begin(),
                    [] __device__(int i, int o) { return i ^ o; });
}
