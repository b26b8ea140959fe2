// A merge sort of pairs, by a comparison through a function pointer.
#include <cub/block/block_merge_sort.cuh>

using Less = bool (*)(const float&, const float&);
extern __device__ Less comparisons[2];

struct ByPointer {
  Less less;
  __device__ bool operator()(const float& a, const float& b) const { return less(a, b); }
};

__global__ void sort_floats(float* data, int which) {
  using Sort = cub::BlockMergeSort<float, 64, 2>;
  __shared__ typename Sort::TempStorage storage;
  float values[2] = {data[2 * threadIdx.x], data[2 * threadIdx.x + 1]};
  Sort(storage).Sort(values, ByPointer{comparisons[which]});
  data[2 * threadIdx.x] = values[0];
  data[2 * threadIdx.x + 1] = values[1];
}
