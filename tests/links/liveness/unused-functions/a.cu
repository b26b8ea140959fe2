__device__ int used(int); __device__ int unused_caller(int x);
__device__ int dead_entry_point(int x) { return unused_caller(x) + 2; }
__global__ void only(int *p) { *p = used(*p); }
