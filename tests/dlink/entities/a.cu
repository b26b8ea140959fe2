// Variables of every kind, and templates that two objects have.
#include "shape.cuh"

__device__ int plain = 3;
__device__ float many[100];
__constant__ int table[4];
__managed__ int managed = 7;
static __device__ double of_this_object = 1;

__global__ void reads(double *p) { *p = plain + many[2] + table[1] + managed + of_this_object; }

void other();

int main()
{
    reads<<<1, 1>>>(nullptr);
    scale<int><<<1, 1>>>(nullptr);
    scale<double><<<1, 1>>>(nullptr);
    other();
}
