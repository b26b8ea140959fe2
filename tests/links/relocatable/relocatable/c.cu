__device__ int clampi(int x, int lo, int hi) { return x < lo ? lo : x > hi ? hi : x; }
__device__ float mix(float a, float b) { return a * (1.0f - b) + b * sqrtf(a); }
