#include <thrust/for_each.h>
#include <thrust/iterator/zip_iterator.h>
#include "points.h"

struct Place {
  template <typename T>
  __device__ void operator()(T each) const {
    thrust::get<1>(each) = cell_of(thrust::get<0>(each));
  }
};

void place(thrust::device_vector<Point> &points, thrust::device_vector<int> &cells) {
  auto begin = thrust::make_zip_iterator(thrust::make_tuple(points.begin(), cells.begin()));
  thrust::for_each(begin, begin + points.size(), Place{});
}
