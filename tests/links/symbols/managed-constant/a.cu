__constant__ int shared_by_both = 4;
__global__ void ka(int* p) { *p = shared_by_both; }
