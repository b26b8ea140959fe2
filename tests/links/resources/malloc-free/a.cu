__device__ int *make(int n);
__global__ void run(int *p, int n) { int *m = make(n); if (m) { p[0] = m[n - 1]; free(m); } }
