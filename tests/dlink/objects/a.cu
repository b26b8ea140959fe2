// Two objects: a kernel that calls a function of the other object, and a kernel in each.
__device__ int twice(int);
void launch_other();

__global__ void first(int *p) { *p = twice(*p); }

int main()
{
    first<<<1, 1>>>(nullptr);
    launch_other();
}
