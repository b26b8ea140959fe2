// Kernels whose scoreboards show one rule each: threads that part before they shuffle, results that
// nobody wants, a constant that is loaded right before threads end, and both sides of branches, the
// one or the other of which comes first.

__global__ void scan(const int *values, const int *groups, int *sums)
{
    int value = values[threadIdx.x], group = groups[threadIdx.x];
    unsigned members = __match_any_sync(__activemask(), group);
    int lane = threadIdx.x & 31;
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(members, value, step);
        if (lane >= step)
            value += other;
    }
    sums[threadIdx.x] = value;
}

__global__ void vote(const int *values, int *sums, int count)
{
    int value = values[threadIdx.x];
    if (value < count) {
        int peer = __shfl_xor_sync(__activemask(), value, 3);
        sums[threadIdx.x] = value;
        if (peer > value) {
            sums[threadIdx.x + 32] = __shfl_sync(__activemask(), peer + value, count);
            values += peer;
        }
    }
    sums[threadIdx.x + 64] = values[1];
}

__global__ void unwanted(double *sum, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(sum, 1.0);
}

__global__ void unwanted_beside_loads(const int *values, int *sums, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        int value = values[i];
        if (value > 3)
            atomicAdd(sums + 1, value);
        else
            atomicAdd(sums + 2, i);
    }
}

__global__ void ends(float *values, int rows, int columns, int margin, float *out)
{
    int column = blockIdx.x * (blockDim.x - blockDim.x % 6) + threadIdx.x;
    if (column >= columns || threadIdx.x >= blockDim.x - margin)
        return;
    float sum = 0;
    for (int row = 0; row < rows; row++)
        sum += values[row * columns + column];
    out[column] = sum;
}

__global__ void sides(int *a, int *b, int first, int second)
{
    int value = a[threadIdx.x];
    if (value < first)
        a[threadIdx.x + 7] = value * 3;
    else
        b[threadIdx.x] = second;
    int other = b[first];
    if (other < second) {
        b[threadIdx.x + 5] = other ^ value;
        __syncthreads();
    } else {
        if (other != first)
            a[second] = other;
    }
    a[threadIdx.x + 9] = other + value;
}
