#include "vector.h"

__global__ void second(Vector a, Vector b) {
  a.assign(b * b + a);
  a.data[1] = Traits<float>::scaled(a[1]) + unit<int> + vectors_assigned;
}
