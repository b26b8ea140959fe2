#include "tree.h"

// A quicksort whose halves are kernels of the same unit: nobody else launches them.
static __global__ void small_sort(int *data, int low, int high) {
  for (int i = low; i <= high; ++i)
    for (int j = i + 1; j <= high; ++j)
      if (data[j] < data[i]) {
        int kept = data[i];
        data[i] = data[j];
        data[j] = kept;
      }
}

template <int Depth>
__global__ void quicksort(int *data, int low, int high) {
  if (high - low < 16) {
    small_sort<<<1, 1>>>(data, low, high);
    return;
  }
  int pivot = data[(low + high) / 2], i = low, j = high;
  while (i <= j) {
    while (data[i] < pivot) ++i;
    while (data[j] > pivot) --j;
    if (i <= j) {
      int kept = data[i];
      data[i++] = data[j];
      data[j--] = kept;
    }
  }
  if constexpr (Depth > 0) {
    quicksort<Depth - 1><<<1, 1, 0, cudaStreamFireAndForget>>>(data, low, j);
    quicksort<Depth - 1><<<1, 1, 0, cudaStreamFireAndForget>>>(data, i, high);
  } else {
    small_sort<<<1, 1>>>(data, low, j);
    small_sort<<<1, 1>>>(data, i, high);
  }
}

template __global__ void quicksort<3>(int *, int, int);
