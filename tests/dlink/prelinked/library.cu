__device__ int there(int x) { return x + 2; }
__global__ void in_library(int *p) { *p = there(*p); }
void of_library() { in_library<<<1, 1>>>(nullptr); }
