// A radix sort of a block.
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_store.cuh>

extern __device__ unsigned mixed(unsigned);

__global__ void __launch_bounds__(64) sort_keys(const unsigned* in, unsigned* out) {
  using Load = cub::BlockLoad<unsigned, 64, 4, cub::BLOCK_LOAD_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<unsigned, 64, 4>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Sort::TempStorage sort;
  } storage;
  unsigned keys[4];
  Load(storage.load).Load(in, keys);
  for (unsigned& key : keys) key = mixed(key);
  __syncthreads();
  Sort(storage.sort).Sort(keys);
  cub::StoreDirectBlocked(threadIdx.x, out, keys);
}
