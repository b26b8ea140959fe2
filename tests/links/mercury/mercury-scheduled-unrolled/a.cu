// An unrolled loop with the rest of its steps: a thread can end while uniform registers of other
// blocks are pending, which its EXIT waits for, and scoreboards are in use in blocks farther on.
__device__ float scale = 2.f;
__global__ void leaf(float *out, int count) { for (int i = 0; i < count; ++i) out[i] = out[i + count] * scale; }
