#include "weak.cuh"
__global__ void ka(float *p) { *p = heavy(p, 3) + Box<float>{*p}.get(p[1]); }
