#pragma once
#include <cuda/atomic>

// Counters of a run, one for each kind of event.
struct Counters {
  cuda::atomic<unsigned, cuda::thread_scope_device> seen;
  cuda::atomic<unsigned long long, cuda::thread_scope_system> bytes;
  cuda::atomic<int, cuda::thread_scope_block> depth;
};

extern __device__ Counters counters;
extern __device__ void count(unsigned bytes);
extern __device__ bool take(unsigned *ticket, unsigned limit);
