// The address is that of a copy that is discarded, and so is the call graph's row that it is taken.
#include "scale.cuh"
extern "C" {
__device__ int (*table[1])(int) = {scale<3>};
__device__ int other = 7;
}
