__global__ void used(int *out) { *out = 1; }
__global__ void unused(int *out) { *out = 2; }

void launch(int *out) { used<<<1, 1>>>(out); }
