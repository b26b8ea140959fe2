// Kernels with this word in their names are optimised in another way: Mercury has notes on their loops.
extern __device__ float scale;
extern __constant__ float table[16];
extern __device__ float step(float x);

__global__ void cutlass_scan(float* a, int n)
{
    __shared__ float row[32];
    float sum = 0;
    for (int i = 0; i < n; i++) {
        row[threadIdx.x] = a[i * 32 + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum = row[k] * table[k + i] + sum * scale;
        __syncthreads();
    }
    a[0] = step(sum);
}

__global__ void cutlass_steps(float* a, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = step(a[i] + table[i]) + scale;
}
