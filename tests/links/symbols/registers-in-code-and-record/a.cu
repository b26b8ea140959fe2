// The copy with more registers, whose record says 2.
template <class T> __device__ __attribute__((noinline)) T pick(T x)
{
    T sum = x, a[24];
#pragma unroll
    for (int i = 0; i < 24; i++)
        a[i] = x * (i + 3) ^ (x >> i);
#pragma unroll
    for (int i = 0; i < 24; i++)
        sum = sum * a[i] + a[23 - i] / (a[(i * 7) % 24] | 1);
    return sum;
}

__global__ void a(int *out) { out[1] = pick(out[0]); }
