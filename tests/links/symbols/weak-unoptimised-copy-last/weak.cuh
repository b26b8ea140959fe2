template <typename T> __device__ __noinline__ T heavy(const T *p, int n) {
    T r[24];
    #pragma unroll
    for (int i = 0; i < 24; i++) r[i] = p[i * n];
    #pragma unroll
    for (int i = 0; i < 24; i++) r[i] = r[i] * r[(i * 7) % 24] + r[(i + 5) % 24];
    T s = 0;
    #pragma unroll
    for (int i = 0; i < 24; i++) s += r[i] * r[23 - i];
    return s;
}
template <typename T> struct Box { T v; __device__ __noinline__ T get(T x) const { return v * x + heavy(&v, (int)x); } };
