extern "C" __device__ __noinline__ void low(int a) { if (a) __syncwarp(); asm volatile("bar.sync 1, 32;"); __syncthreads(); }
extern "C" __device__ __noinline__ void high() { asm volatile("bar.sync 9;"); asm volatile("barrier.cluster.arrive; barrier.cluster.wait;"); }
extern "C" __device__ __noinline__ void dead() { asm volatile("bar.sync 14;"); }
