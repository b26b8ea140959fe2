// Two device links in one program.
__global__ void a(int *p) { *p = 1; }
void of_b();

int main()
{
    a<<<1, 1>>>(nullptr);
    of_b();
}
