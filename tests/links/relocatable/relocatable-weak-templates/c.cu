#include "weak.cuh"
__global__ void kc(double *d) { *d = heavy(d, 7) + Box<double>{*d}.get(d[1]); }
