struct Big { double v[40]; int tag; }; struct Three { int a, b, c; };
__device__ double eval(Big b, double x); __device__ Three turn(Three t);
__global__ void run(Big b, double *out, const int *__restrict__ in) { *out = eval(b, *out) * 0.1234567890123 + in[0]; }
__global__ void three(Three t, Three *out) { *out = turn(t); }
