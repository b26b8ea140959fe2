// Products of matrices of doubles in loops have notes of two units.
extern __device__ double finish(double sum);

__device__ inline void multiply(double (&sum)[2], double a, double b)
{
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(sum[0]), "+d"(sum[1]) : "d"(a), "d"(b));
}

__global__ void cutlass_products(const double *a, const double *b, double *c, int steps)
{
    __shared__ double rows[2][64];
    double sums[4][4][2] = {};
    for (int step = 0; step < steps; step++) {
        rows[step & 1][threadIdx.x] = a[step * 64 + threadIdx.x];
        __syncthreads();
        double left[4], right[4];
        for (int i = 0; i < 4; i++) {
            left[i] = rows[step & 1][(threadIdx.x + i) & 63];
            right[i] = b[step * 64 + threadIdx.x + i];
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                multiply(sums[i][j], left[i], right[j]);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[(i * 4 + j) * 64 + threadIdx.x] = finish(sums[i][j][0] + sums[i][j][1]);
}
