// A ring: each processor writes its number to the next one's memory, and reads it back.
#include <nvshmem.h>
#include <nvshmemx.h>

__global__ void ring(int *data) {
  int me = nvshmem_my_pe(), all = nvshmem_n_pes();
  nvshmem_int_p(data, me, (me + 1) % all);
  nvshmem_quiet();
  nvshmemx_int_put_block(data + 1, data, 4, (me + 1) % all);
  nvshmem_barrier_all();
  data[8] = nvshmem_int_g(data, (me + all - 1) % all);
}
