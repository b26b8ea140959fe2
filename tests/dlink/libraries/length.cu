__device__ float length(float a, float b) { return a * a + b * b; }
