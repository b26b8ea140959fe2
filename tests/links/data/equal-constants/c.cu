__constant__ int cc[7] = {9, 9};
__global__ void kc(int *p, int i) { *p = cc[i]; }
