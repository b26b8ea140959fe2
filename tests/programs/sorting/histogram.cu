// Counts of the digits of keys.
#include <cub/block/block_histogram.cuh>

extern __device__ unsigned mixed(unsigned);

__global__ void digits(const unsigned* in, unsigned* counts) {
  using Histogram = cub::BlockHistogram<unsigned char, 64, 1, 16, cub::BLOCK_HISTO_ATOMIC>;
  __shared__ typename Histogram::TempStorage storage;
  __shared__ unsigned found[16];
  unsigned char digit[1] = {static_cast<unsigned char>(mixed(in[threadIdx.x]) & 15)};
  Histogram(storage).Histogram(digit, found);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x] = found[threadIdx.x];
}
