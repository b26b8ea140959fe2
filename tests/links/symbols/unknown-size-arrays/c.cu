__device__ int more[2] = {5, 6};
