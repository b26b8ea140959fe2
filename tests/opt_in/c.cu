// Input of tests/it/opt_in.rs; built with `nvcc -rdc=true -cubin -arch=sm_90 c.cu -o c.cubin`, and for sm_100 as c-sm_100.cubin. Its `helper` is that of a.cu by name only.
extern "C" __device__ int helper(int x) { return x + 8; }
extern "C" __global__ void kernel_c(int *out, int x) { *out = helper(x); }
