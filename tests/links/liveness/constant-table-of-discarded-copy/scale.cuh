// Only instances of `scale` call it.
template <int n> __device__ __noinline__ int helper(int x) {
    __shared__ int seen[8];
    seen[x & 7] = x;
    __syncthreads();
    return seen[n & 7];
}
template <int n> __device__ __noinline__ int scale(int x) {
    volatile int frame[8];
    for (int i = 0; i < 8; i++) frame[i] = x * i;
    switch (x) {
    case 1: return frame[x & 7];
    case 2: return helper<n>(3);
    case 5: return frame[2] + 77;
    case 7: return x * x;
    case 9: return 5;
    case 11: return frame[3];
    }
    return n * x;
}
