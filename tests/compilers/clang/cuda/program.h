// What the units share; some are compiled by clang, others by nvcc. clang needs no CUDA header for them.
#pragma once
#ifdef __clang__
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __noinline__ __attribute__((noinline))
#include <__clang_cuda_builtin_vars.h>
#endif

struct Matrix {
  float at[4][4];
  __device__ Matrix operator*(const Matrix &) const;
};

template <class T, int N> struct Stack {
  T values[N];
  int top = 0;
  __device__ void push(T value) { values[top++ % N] = value; }
  __device__ T pop() { return values[--top % N]; }
};

struct Filter {
  __device__ virtual ~Filter() {}
  __device__ virtual float apply(float) const = 0;
  __device__ virtual int cost() const { return 1; }
};

// Copies of these are in the units of both compilers.
template <class T> __device__ __noinline__ T smooth(T a, T b) { return (a + b) / 2 + a * b; }
template <class T> __device__ T unit_of = T(1);
__device__ inline int *slot(int i) {
  __device__ static int slots[16];
  return slots + i % 16;
}
inline constexpr int sizes[] = {3, 5, 7, 11, 13, 17, 19, 23};

extern __device__ int generation;
extern __constant__ float gains[16];
extern __shared__ float dynamic[];
using Map = float (*)(float);
extern __device__ Map maps[4];

__device__ const Filter *filter_of(int kind);
__device__ float reduce(float value);
__device__ int encode(const char *text, int n);
extern "C" __device__ int c_style(int);
