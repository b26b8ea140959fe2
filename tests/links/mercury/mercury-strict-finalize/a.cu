__device__ float scale = 2.f;
__global__ void leaf(float *out, int count) { for (int i = 0; i < count; ++i) out[i] = out[i + count] * scale; }
