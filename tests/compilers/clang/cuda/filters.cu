#include "program.h"

static __device__ __noinline__ float own(float x) { return x / gains[5]; }
namespace { __device__ double hits[2] = {0.5, 0.25}; }
__device__ int generation = 4;
__constant__ float gains[16] = {1, 2, 3, 4};

// What destructors of both compilers call.
__device__ void operator delete(void *, unsigned long) {}

struct Gain : Filter {
  __device__ float apply(float x) const override { return own(x) + hits[0]; }
};
struct Smooth : Gain {
  __device__ float apply(float x) const override { return smooth(Gain::apply(x), 2.f); }
  __device__ int cost() const override { return 2 + sizes[x_ & 7]; }
  int x_ = 0;
};

__device__ const Filter *filter_of(int kind) {
  __device__ static char room[32];
  Filter *filter = (Filter *)room;
  // What placement new would do.
  if (kind) {
    Smooth made;
    __builtin_memcpy((void *)filter, (void *)&made, sizeof made);
  } else {
    Gain made;
    __builtin_memcpy((void *)filter, (void *)&made, sizeof made);
  }
  return filter;
}

__device__ float reduce(float value) {
  __shared__ float rows[64];
  __shared__ int count;
  if (threadIdx.x == 0)
    count = generation;
  rows[threadIdx.x % 64] = value;
  __syncthreads();
  return rows[63 - threadIdx.x % 64] + count + maps[threadIdx.x & 3](value);
}
