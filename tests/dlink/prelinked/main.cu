// A static library that was linked for itself: a further device link leaves its modules alone.
void of_library();
__device__ int here(int x) { return x + 1; }
__global__ void in_program(int *p) { *p = here(*p); }

int main()
{
    in_program<<<1, 1>>>(nullptr);
    of_library();
}
