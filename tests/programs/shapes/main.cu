#include <cassert>
#include <cstdio>
#include "shape.h"

__global__ void run(const int *kinds, int n, float *out) {
  Shape *shapes[8];
  assert(n <= 8);
  for (int i = 0; i < n; ++i) {
    shapes[i] = make(kinds[i], i + 1.0f);
    printf("%d corners\n", shapes[i] ? shapes[i]->corners() : -1);
  }
  *out = total_area(shapes, n);
  for (int i = 0; i < n; ++i) delete shapes[i];
}
