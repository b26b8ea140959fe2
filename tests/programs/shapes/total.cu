#include "shape.h"

__device__ float total_area(Shape *const *shapes, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i)
    if (shapes[i]) sum += shapes[i]->area();
  return sum;
}
