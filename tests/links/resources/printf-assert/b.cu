#include <cstdio>
#include <cassert>
__device__ __noinline__ void report(int i, float v) { assert(v >= 0 && "negative"); printf("%d: %f %s\n", i, v, "units"); }
__global__ void quiet(int *p) { *p = 1; }
