#pragma once

struct alignas(32) Wide {
  double4 a;
  char tail;
};
union Bits {
  float f;
  unsigned u;
  unsigned char b[4];
};
struct Big {
  int values[700];
};

extern __managed__ int shared_count;
extern __managed__ Wide shared_wide;
extern __constant__ Bits constant_bits[8];
extern __device__ volatile int flag;
extern __device__ Wide wides[4];
extern __shared__ int dynamic_words[];
inline __device__ int inline_counter = 17;
inline __constant__ float inline_scale = 0.125f;
extern __device__ int reads_big(const Big &big, int at);
