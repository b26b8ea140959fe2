// Kernels that copy to shared memory while threads go on keep the waits for it in front of memory
// barriers; kernels that use barriers in shared memory keep those of a block of threads.
#include <cuda_runtime.h>

__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

extern "C" __global__ void copies(int *out, const int *in) {
    __shared__ int s[64];
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address(s + threadIdx.x)), "l"(in + threadIdx.x));
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x ^ 1];
    __threadfence();
    out[threadIdx.x + 64] = s[threadIdx.x ^ 2];
}

extern "C" __global__ void proxies(const int *in) {
    __shared__ int s[64];
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(s)), "l"(in));
    asm volatile("fence.proxy.async;");
}

extern "C" __global__ void fences_first(int *out, const int *in) {
    __shared__ int s[64];
    out[0] = 1;
    __threadfence_system();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(address(s + 2)), "l"(in));
}

extern "C" __global__ void announces(int *out) {
    __shared__ unsigned long long barrier;
    unsigned long long state;
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], 32;" : "=l"(state) : "r"(address(&barrier)));
    out[0] = (int)state;
    __threadfence();
    out[1] = 2;
}

extern "C" __global__ void both(int *out, const int *in) {
    __shared__ int s[64];
    __shared__ unsigned long long barrier;
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 32;" ::"r"(address(&barrier)));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address(s)), "l"(in));
    out[0] = 1;
    __threadfence();
    out[1] = s[3];
}
