#include "vector.h"

__global__ void first(Vector a, Vector b, Vector c) {
  a.assign(a + b * c);
  a.data[0] = Traits<float>::scaled(a[0]) + float(Traits<double>::scaled(2.0));
}
