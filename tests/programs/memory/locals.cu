#include "layout.h"

__device__ Wide wides[4];

__device__ __noinline__ int recurse(int n, int *seen) {
  int own[20];
  for (int i = 0; i < 20; ++i) own[i] = seen[(i + n) % 20];
  return n <= 0 ? own[n + 3] : own[n % 20] + recurse(n - 1, own);
}

__global__ void locals(int *data, int n) {
  int stack[64];
  char *dynamic = (char *)alloca(n);
  for (int i = 0; i < 64; ++i) stack[i] = data[i];
  dynamic[n / 2] = char(stack[n]);
  data[0] = recurse(n, stack) + dynamic[n / 3] + int(wides[n & 3].a.y);
}
