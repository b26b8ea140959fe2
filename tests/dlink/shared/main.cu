// A shared library with a device link of its own, beside a program with another.
void launch_in_library();

__device__ int number = 4;
__global__ void of_program(int *p) { *p = number; }

int main()
{
    of_program<<<1, 1>>>(nullptr);
    launch_in_library();
}
