// Device code for a debugger.
__device__ int f(int);
__global__ void k(int *p) { *p = f(*p); }

int main() { k<<<1, 1>>>(nullptr); }
