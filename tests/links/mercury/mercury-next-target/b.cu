extern __device__ int calls;

__device__ __noinline__ int twice(int x) {
  calls = calls + 1;
  return x * 2;
}
