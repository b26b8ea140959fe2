__device__ int nowhere(int x);
__device__ float also_dead(float x) { return nowhere((int)x) * x; }
