#include "counters.h"

__device__ bool take(unsigned *ticket, unsigned limit) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> ref(*ticket);
  unsigned seen = ref.load(cuda::memory_order_acquire);
  while (seen < limit) {
    if (ref.compare_exchange_weak(seen, seen + 1, cuda::memory_order_acq_rel)) {
      return true;
    }
  }
  return false;
}
