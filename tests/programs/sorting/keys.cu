#include <cuda/std/bit>

static __device__ bool less(const float& a, const float& b) { return a < b; }
static __device__ bool larger(const float& a, const float& b) { return a > b; }

using Less = bool (*)(const float&, const float&);
__device__ Less comparisons[2] = {less, larger};

__device__ unsigned mixed(unsigned key) { return cuda::std::rotl(key, 7) ^ cuda::std::popcount(key); }
