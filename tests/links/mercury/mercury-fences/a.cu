// Memory barriers of each width in kernels that call nothing, whose first load has a scoreboard or
// not, and in one that calls.
#include <cuda/atomic>

extern "C" __global__ void widths(int *out)
{
    out[0] = 1;
    __threadfence_block();
    out[1] = 2;
    __threadfence();
    out[2] = 3;
    __threadfence_system();
    out[3] = 4;
}

extern "C" __global__ void turns(int *out, volatile int *flag, int count)
{
    __shared__ int last;
    int sum = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        sum += out[i];
    out[blockIdx.x] = sum;
    __threadfence();
    if (threadIdx.x == 0)
        last = atomicAdd((int *)flag, 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        for (int i = 0; i < gridDim.x; i++)
            sum += out[i];
        out[0] = sum;
    }
}

extern "C" __global__ void released(int *out, int value)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(out[0]);
    out[1] = value;
    ready.store(1, cuda::memory_order_release);
    cuda::atomic_ref<int, cuda::thread_scope_system> seen(out[2]);
    seen.fetch_add(value, cuda::memory_order_seq_cst);
}

__device__ __noinline__ int outside(int value)
{
    return value * 3;
}

extern "C" __global__ void calls(int *out)
{
    out[0] = outside(out[1]);
    __threadfence();
    out[2] = 1;
}
