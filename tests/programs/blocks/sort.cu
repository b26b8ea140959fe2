#include <cub/block/block_radix_sort.cuh>
#include "parts.h"

template <typename K, typename V>
__global__ void sort_pairs(K *keys, V *values) {
  using Sort = cub::BlockRadixSort<K, THREADS, 4, V>;
  extern __shared__ char bytes[];
  auto &storage = *reinterpret_cast<typename Sort::TempStorage *>(bytes);
  K key[4];
  V value[4];
  for (int i = 0; i < 4; ++i) {
    key[i] = keys[threadIdx.x * 4 + i];
    value[i] = values[threadIdx.x * 4 + i];
  }
  Sort(storage).Sort(key, value);
  for (int i = 0; i < 4; ++i) {
    keys[threadIdx.x * 4 + i] = key[i];
    values[threadIdx.x * 4 + i] = value[i];
  }
}
template __global__ void sort_pairs<unsigned, float>(unsigned *, float *);
template __global__ void sort_pairs<float, unsigned char>(float *, unsigned char *);
