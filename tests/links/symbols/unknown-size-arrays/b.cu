__device__ float data[40];
__constant__ int table[3] = {1, 2, 3};
extern __device__ int more[];
__device__ __noinline__ float at(int i) { return data[i + 1] + more[i]; }
