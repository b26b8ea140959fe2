__device__ int add(int);

__global__ void of_library(int *p) { *p = add(*p); }

void launch_in_library() { of_library<<<1, 1>>>(nullptr); }
