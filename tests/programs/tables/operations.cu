#include "operations.h"

__device__ float add(float x, float y) { return x + y; }
__device__ float multiply(float x, float y) { return x * y; }

__constant__ Operation operations[4] = {add, multiply, powered<3>, powered<5>};
