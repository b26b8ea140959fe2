#include "t.h"
__global__ void kb(double*p){p[0]=9.87654321*p[1];}
void hb(double*p){ tk<double><<<1,1>>>(p,4); tk<float><<<1,1>>>((float*)p,3); kb<<<1,1>>>(p);}
