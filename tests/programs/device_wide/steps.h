#pragma once

struct Record {
  unsigned key;
  float weight;
};
struct Heavy {
  float limit;
  __host__ __device__ bool operator()(const Record &r) const { return r.weight > limit; }
};
struct KeyOf {
  __host__ __device__ unsigned operator()(const Record &r) const { return r.key; }
};
