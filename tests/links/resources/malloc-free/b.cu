__device__ __noinline__ int *make(int n) { int *m = (int *)malloc(n * sizeof(int)); if (m) for (int i = 0; i < n; i++) m[i] = i * i; return m; }
__device__ char *dead(int n) { return new char[n]; }
