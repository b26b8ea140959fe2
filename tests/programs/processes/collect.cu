#include "halo.h"

__global__ void collect(double *all, double *mine, int *counts, int n) {
  nvshmemx_double_sum_reduce_block(NVSHMEM_TEAM_WORLD, all, mine, n);
  if (threadIdx.x == 0) {
    counts[0] = nvshmem_int_atomic_fetch_add(counts + 1, n, above());
    nvshmem_int_atomic_inc(counts + 2, below());
    nvshmem_quiet();
  }
  nvshmemx_barrier_all_block();
}
