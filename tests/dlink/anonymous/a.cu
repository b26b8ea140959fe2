// Kernels of one name in anonymous namespaces.
namespace {
__device__ int number = 1;
__global__ void k(int *p) { *p = number; }
}

void of_b();

int main()
{
    k<<<1, 1>>>(nullptr);
    of_b();
}
