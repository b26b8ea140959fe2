// Kernels that launch kernels: the device runtime is linked.
__global__ void child(int *p);

__global__ void parent(int *p)
{
    if (*p > 0)
        child<<<1, 32>>>(p + 1);
}

int main() { parent<<<1, 1>>>(nullptr); }
