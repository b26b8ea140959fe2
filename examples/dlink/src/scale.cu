// The second unit of the program.
__device__ int offset(int value);

__constant__ int factor = 3;

__device__ int scale(int value) { return offset(value * factor); }
