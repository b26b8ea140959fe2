__device__ int c() { return 3; }
