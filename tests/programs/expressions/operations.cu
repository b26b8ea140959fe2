#include "vector.h"

__device__ float Plus::apply(float a, float b) { return a + b; }
__device__ float Times::apply(float a, float b) { return a * b; }
__device__ int vectors_assigned;
