#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda/std/complex>

using Complex = cuda::std::complex<double>;

extern __device__ Complex root_of(Complex z);
extern __device__ __half2 norm(__half2 x);
extern __device__ double gamma_of(double x);
extern __device__ float wave(float x, int n);
