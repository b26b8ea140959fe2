extern "C" __device__ int al(int);

extern "C" __global__ void calls(int *place) { place[0] = al(place[1]); }
