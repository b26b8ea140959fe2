#include "group.h"

__device__ int sum_of_cluster(int *mine) {
  auto cluster = cg::this_cluster();
  int sum = 0;
  for (unsigned i = 0; i < cluster.num_blocks(); ++i) sum += *cluster.map_shared_rank(mine, i);
  cluster.sync();
  return sum;
}
