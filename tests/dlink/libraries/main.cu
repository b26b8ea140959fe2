// Two static libraries: of one a member that nothing refers to stays out.
__device__ int area(int, int);
__device__ float length(float, float);

__global__ void k(int *i, float *f)
{
    *i = area(*i, 2);
    *f = length(*f, 2);
}

int main() { k<<<1, 1>>>(nullptr, nullptr); }
