#pragma once

struct Extent {
  float low, high;
};

struct Merge {
  __host__ __device__ Extent operator()(const Extent& a, const Extent& b) const {
    return {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
  }
};

extern __device__ int sum_int(int);
extern __device__ double sum_double(double);
extern __device__ unsigned long long sum_long(unsigned long long);
extern __device__ Extent extent(float);
extern __device__ int ranks(int);
