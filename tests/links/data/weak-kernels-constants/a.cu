#include "t.h"
void ha(double*p){ tk<double><<<1,1>>>(p,3); tk<float><<<1,1>>>((float*)p,3);}
