#include "tree.h"

__device__ int weigh(const Node &node, unsigned depth) {
  double part = sin(double(node.value)) * pow(1.5, double(depth));
  return int(part) / int(depth + 1);
}
