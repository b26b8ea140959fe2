// Ends with and without a guard, in front of branches, of places where threads meet, of a table of
// branches, and of a call.
extern __device__ int outside(int);

extern "C" __global__ void guarded(int *out, const int *in, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    int value = in[i];
    if (value < 0)
        return;
    out[i] = value * 3;
}

extern "C" __global__ void pending(float *out, const float *in, int count)
{
    __shared__ float part[64];
    int i = threadIdx.x;
    part[i & 63] = in[i];
    __syncthreads();
    float root = __expf(part[(i + 1) & 63]);
    out[i] = root;
    if (count < i)
        return;
    for (int step = 0; step < count; step++) {
        root = root * part[(i + step) & 63] + in[step];
        if (root > 100.0f)
            return;
        out[i + step] = root;
    }
}

extern "C" __global__ void table(int *out, int which)
{
    int result = out[2];
    switch (which) {
    case 0: result = out[3] * 5; break;
    case 1: out[9] = 3; return;
    case 2: result = out[11] / 7; break;
    case 3: result = out[1] ^ out[2]; break;
    case 4: out[8] = 13 * result; return;
    case 5: out[77] = 4; break;
    case 6: result = out[5] - out[6]; break;
    case 7: return;
    case 8: result += out[result & 7]; break;
    }
    out[which] = result;
}

extern "C" __global__ void calls(int *out, int count)
{
    out[threadIdx.x] = outside(out[0]) + count;
}

__device__ __noinline__ void stops(int *out, int value)
{
    if (value < 0)
        asm volatile("exit;");
    out[value] = value;
}

extern "C" __global__ void stopped(int *out)
{
    stops(out, out[threadIdx.x]);
    out[1] = 2;
}
