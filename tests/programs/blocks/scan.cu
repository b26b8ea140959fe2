#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include "parts.h"

template <typename T, int ITEMS>
__global__ void __launch_bounds__(THREADS) prefix(const T *in, T *out, Summary *summary) {
  using Load = cub::BlockLoad<T, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<T, THREADS, ITEMS, cub::BLOCK_STORE_TRANSPOSE>;
  using Scan = cub::BlockScan<T, THREADS>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
  } storage;
  T items[ITEMS], all;
  Load(storage.load).Load(in, items);
  __syncthreads();
  Scan(storage.scan).ExclusiveSum(items, items, all);
  __syncthreads();
  Store(storage.store).Store(out, items);
  Summary mine = summary_of(float(all));
  if (threadIdx.x == 0) summary[blockIdx.x] = mine;
}
template __global__ void prefix<int, 4>(const int *, int *, Summary *);
template __global__ void prefix<double, 2>(const double *, double *, Summary *);
