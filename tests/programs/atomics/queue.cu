#include "counters.h"

// A queue of many producers and one consumer in global memory.
template <typename T, unsigned N>
struct Queue {
  T items[N];
  cuda::atomic<unsigned, cuda::thread_scope_device> head, tail;

  __device__ bool push(T value) {
    unsigned at = tail.fetch_add(1);
    if (at - head.load(cuda::memory_order_acquire) >= N) return false;
    items[at % N] = value;
    return true;
  }
  __device__ bool pop(T &value) {
    unsigned at = head.load();
    if (at == tail.load(cuda::memory_order_acquire)) return false;
    value = items[at % N];
    head.store(at + 1, cuda::memory_order_release);
    return true;
  }
};

__device__ Queue<int, 256> numbers;
static __device__ Queue<float2, 64> points;

__global__ void produce(int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    if (numbers.push(i)) count(sizeof(int));
    points.push(make_float2(i, -i));
  }
}

__global__ void consume(int *out) {
  int value;
  unsigned at = 0;
  while (numbers.pop(value)) out[at++] = value;
  float2 point;
  while (points.pop(point)) out[at++] = int(point.x + point.y);
}
