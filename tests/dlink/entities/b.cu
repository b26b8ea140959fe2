#include "shape.cuh"

extern __device__ int plain;
extern __constant__ int table[4];
static __constant__ double of_this_object = 2;
__managed__ double also_managed[3];

__global__ void writes(int *p) { plain = table[*p] + also_managed[0] + of_this_object; }

void other()
{
    writes<<<1, 1>>>(nullptr);
    scale<int><<<1, 1>>>(nullptr);
    scale<float><<<1, 1>>>(nullptr);
}
