__constant__ int ca[4] = {1, 2, 3};
__global__ void ka(int *p, int i) { *p = ca[i]; }
