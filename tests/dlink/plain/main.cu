// An object without device code among the inputs.
int of_host(int);
__global__ void k(int *p) { *p = 1; }

int main()
{
    k<<<1, 1>>>(nullptr);
    return of_host(0);
}
