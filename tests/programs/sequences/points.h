#pragma once
#include <thrust/device_vector.h>
#include <thrust/tuple.h>

struct Point {
  float x, y;
};
struct Length {
  __host__ __device__ float operator()(const Point &p) const { return p.x * p.x + p.y * p.y; }
};

float far_from_origin(const thrust::device_vector<Point> &points);
void by_cell(thrust::device_vector<int> &cells, thrust::device_vector<float> &values);
extern __device__ int cell_of(Point p);
