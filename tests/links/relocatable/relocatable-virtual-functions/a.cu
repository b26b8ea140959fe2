#include "shape.cuh"
__global__ void run(float *p) {
    Square s(p[0]); Circle c(p[1]);
    const Shape *pick = threadIdx.x & 1 ? (const Shape *)&s : (const Shape *)&c;
    p[threadIdx.x] = measure(*pick) + pick->sides();
}
