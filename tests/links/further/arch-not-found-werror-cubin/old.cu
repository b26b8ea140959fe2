__device__ int old(int x) { return x; }
