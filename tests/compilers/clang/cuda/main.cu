#include "program.h"

// Two of one name, in this unit and the next.
static __device__ __noinline__ float own(float x) { return x * gains[3] + *slot(2); }
namespace { __device__ int hits[4] = {1, 2}; }

__global__ void __launch_bounds__(128, 2) filter_all(float *data, int kind) {
  const Filter *filter = filter_of(kind);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  dynamic[threadIdx.x] = filter->apply(data[i]);
  __syncthreads();
  data[i] = reduce(dynamic[threadIdx.x ^ 1]) + filter->cost() + own(data[i]);
  hits[i & 3]++;
}

__global__ void multiply(Matrix *all, Matrix by) { all[threadIdx.x] = all[threadIdx.x] * by; }

template <class T> __global__ void stacks(T *data) {
  Stack<T, 8> stack;
  for (int i = 0; i < 12; i++)
    stack.push(smooth(data[i], unit_of<T>));
  data[0] = stack.pop() + stack.pop();
}
template __global__ void stacks(float *);
template __global__ void stacks(double *);

extern "C" __global__ void encode_all(const char *text, int *out, int n) {
  auto scale = [=](int x) { return c_style(x) + sizes[x & 7]; };
  out[threadIdx.x] = scale(encode(text + threadIdx.x, n)) + generation;
}

static __global__ void unused(int *out) { *out = *slot(1); }
