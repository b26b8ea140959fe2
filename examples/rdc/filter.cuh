// What the two units of the example share: one image filter, split so that every kind of reference crosses a unit.
#pragma once

struct Pixel {
    float r, g, b;
};

constexpr int kTaps = 9;

extern __constant__ float filter_weights[kTaps];      // defined in b.cu
extern __device__ unsigned long long pixels_done;     // defined in b.cu

__device__ Pixel apply_filter(const Pixel *row, int x, int width);  // b.cu
__device__ float luminance(const Pixel &pixel);                     // a.cu

// Instantiated by both units: the linker keeps one copy.
template <typename T>
__device__ __noinline__ T clamp_to(T value, T low, T high) {
    return value < low ? low : value > high ? high : value;
}
