// The static library.
__device__ int offset(int value) { return value + 1; }
