#include <thrust/binary_search.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>

__device__ int place(int* keys, int count, int key) {
  thrust::sort(thrust::seq, keys, keys + count);
  return thrust::lower_bound(thrust::seq, keys, keys + count, key) - keys;
}
