__device__ int twice(int x);
__device__ int calls = 1;
__constant__ int table[4] = {1, 2, 3, 4};

__global__ void k(int *p) {
  p[0] = twice(p[1]) + table[p[2] & 3] + calls;
}
