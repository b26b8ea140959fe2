namespace {
__device__ int number = 2;
__global__ void k(int *p) { *p = number; }
}

void of_b() { k<<<1, 1>>>(nullptr); }
