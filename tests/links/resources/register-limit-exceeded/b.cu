__device__ __noinline__ float wide(const float *p) {
    float r[40]; float s = 0;
    #pragma unroll
    for (int i = 0; i < 40; i++) r[i] = p[i * 3];
    #pragma unroll
    for (int i = 0; i < 40; i++) s += r[i] * r[39 - i] * r[(i * 7) % 40];
    return s;
}
