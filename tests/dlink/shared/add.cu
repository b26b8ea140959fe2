__device__ int number = 5;
__device__ int add(int x) { return x + number; }
