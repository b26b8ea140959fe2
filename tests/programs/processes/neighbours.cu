#include "halo.h"

__device__ int above() { return (nvshmem_my_pe() + nvshmem_n_pes() - 1) % nvshmem_n_pes(); }
__device__ int below() { return (nvshmem_my_pe() + 1) % nvshmem_n_pes(); }
