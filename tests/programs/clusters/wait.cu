#include "group.h"

__device__ void arrive_and_wait() {
  auto cluster = cg::this_cluster();
  auto token = cluster.barrier_arrive();
  cluster.barrier_wait(std::move(token));
}
