#include "shape.cuh"
__device__ float Circle::area() const { return 3.14159f * r * r; }
__device__ __noinline__ float measure(const Shape &shape) { return shape.area() + shape.sides(); }
__global__ void squares(float *p) { Square s(*p); *p = measure(s); }
