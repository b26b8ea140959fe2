__device__ int c();
__global__ void b(int *p) { *p = c(); }
void of_b() { b<<<1, 1>>>(nullptr); }
