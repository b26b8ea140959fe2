// Kernels that only device code launches, with what they call: functions of their own, of another file, and those that the
// compiler makes for sin, pow and division.
__device__ int far(int x);
__device__ __noinline__ int near(int x) { return x * 7 + clock(); }
__global__ void child(int* p) { p[0] = near(p[1]); }
static __global__ void static_child(int* p) { p[0] = far(p[1]); }
template <class T> __global__ void maths(T* p) { p[0] = sin(p[1]) / p[2] + pow(p[3], p[4]); }
__global__ void nested(int* p) { static_child<<<1, 1>>>(p); }
__global__ void parent(int* p, double* d)
{
    child<<<1, 1>>>(p);
    nested<<<1, 1>>>(p);
    maths<<<1, 1>>>(d);
}
void host(int* p, double* d) { parent<<<1, 1>>>(p, d); }
