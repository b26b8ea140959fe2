#include "program.h"

static __constant__ unsigned char alphabet[64] = {'A', 'B', 'C'};

static __device__ int digit(char c) {
  switch (c) {
  case '0': return encode("zero", 4);
  case '1': return generation;
  case '2': return alphabet[2] * 9;
  case '3': return *slot(7);
  case '4': return (int)smooth(1.0, 2.0);
  case '5': return c_style(5);
  default: return c & 15;
  }
}

__device__ int encode(const char *text, int n) {
  int sum = 0;
  for (int i = 0; i < n && text[i]; i++)
    sum = sum * 31 + digit(text[i]) + alphabet[text[i] & 63];
  return sum;
}

extern "C" __device__ __attribute__((weak)) int c_style(int x) { return x < 2 ? x : c_style(x - 1) + c_style(x - 2); }
