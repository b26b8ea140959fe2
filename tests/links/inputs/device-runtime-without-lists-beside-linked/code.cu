__global__ void other() {}
