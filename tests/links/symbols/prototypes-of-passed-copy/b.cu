// The second copy of `pick` calls by a prototype that is nowhere else.
typedef float (*By)(float, int, float);
extern __device__ By table[4];
__device__ By table[4];

template <class T> __device__ __attribute__((noinline)) float pick(T x)
{
    float sum = 0;
    for (int i = 0; i < x; i++)
        sum += table[i & 3](sum, i, sum * 3.0f) * sum + table[(i + 1) & 3](sum, i, 2.0f);
    return sum;
}
template __device__ float pick(int);

__device__ __attribute__((noinline)) float last(float x, double y, int z) { return x + y + z; }
__device__ float (*second)(float, double, int) = last;

__global__ void b(int *out) { out[1] = int(second(out[0], 2.0, 3) + pick(out[0])); }
