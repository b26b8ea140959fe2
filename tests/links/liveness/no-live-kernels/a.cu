__device__ int g1 = 1, g2 = 2, g4; __device__ int g3[4]; __constant__ int c1 = 5; __constant__ int c2[3]={1,2,3};
__global__ void k1(int*p){ *p = g1 + c1; }
__global__ void k2(int*p){ *p = g2 + g3[1] + c2[*p]; }
