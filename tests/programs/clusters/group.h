#pragma once
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern __device__ int sum_of_cluster(int *mine);
extern __device__ void arrive_and_wait();
extern __constant__ int cluster_limits[4];
