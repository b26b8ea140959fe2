#pragma once

constexpr int THREADS = 128;

struct Summary {
  float sum, low, high;
};

struct Join {
  __host__ __device__ Summary operator()(Summary a, Summary b) const {
    return {a.sum + b.sum, a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
  }
};

extern __device__ Summary summary_of(float value);
extern __device__ int rank_of(int key, int *shared);
