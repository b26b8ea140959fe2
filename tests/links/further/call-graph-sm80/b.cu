template<class T> __device__ __noinline__ T mix(T a) { T b[30]; for (int i = 0; i < 30; i++) b[i] = a * i; return b[(int)a]; }
namespace { struct Local { int x; __device__ __noinline__ int get() const { return x * 3; } }; }
__device__ int other_unit(int x) { Local local = { x }; return mix<int>(x) + mix<float>(x) + local.get(); }
__global__ void last(double *p) { p[0] = mix<double>(p[1]) * 1.23456789; }
