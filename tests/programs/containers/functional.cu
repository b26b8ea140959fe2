#include <cuda/std/functional>
#include "holders.h"

__device__ cuda::std::array<int, 6> order = {5, 3, 1, 0, 2, 4};

__global__ void functional(int *out) {
  auto last = order;
  cuda::std::greater<> before;
  for (int &a : last)
    for (int &b : last)
      if (before(a, b)) cuda::std::swap(a, b);
  out[0] = last.front() - last.back();
  out[1] = cuda::std::invoke([](int a, int b) { return a * b; }, last[0], last[1]);
  cuda::std::tuple<int, float, char> three(1, 2.0f, 'c');
  out[2] = cuda::std::apply([](auto... each) { return int((each + ... + 0)); }, three);
}
