extern __constant__ int where;
__global__ void ka(int *p) { *p = where; }
