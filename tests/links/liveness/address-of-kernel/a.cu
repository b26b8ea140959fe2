__device__ void *target;
__global__ void child(int *p) { *p = 1; }
__device__ __noinline__ int f(int a) { return a * a; }
__global__ void parent(int *p) {
    target = (void *)child;
    *p = f(*p);
}
