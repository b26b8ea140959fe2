__device__ int lost(int);
__global__ void member(int *p) { *p = lost(*p); }
void launch_member(int *p) { member<<<1, 1>>>(p); }
