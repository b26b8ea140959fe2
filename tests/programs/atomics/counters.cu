#include "counters.h"

__device__ Counters counters;

__device__ void count(unsigned bytes) {
  counters.seen.fetch_add(1, cuda::memory_order_relaxed);
  counters.bytes.fetch_add(bytes, cuda::memory_order_release);
}
