__global__ void of_another_target() {}
