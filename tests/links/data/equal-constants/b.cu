__constant__ int cb[4] = {1, 2, 3};      /* same bytes as ca: is merged away */
__global__ void kb(int *p, int i) { *p = cb[i]; }
