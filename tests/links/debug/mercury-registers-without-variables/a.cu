extern "C" __global__ void nothing() {}
extern "C" __device__ void neither() {}
