__device__ int never_called(int x) { return x + 1; }
