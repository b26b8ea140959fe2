__global__ void last(int *out, int n) { int sum = 0; for (int i = 0; i < n; i++) sum += out[i]; if (sum > 4) out[sum] = n; }
__global__ void fence(int *out, int n) { out[0] = n; __threadfence(); out[1] = n; }
__global__ void forever(int *out) { for (;;) { out[0] += 1; __threadfence(); } }
