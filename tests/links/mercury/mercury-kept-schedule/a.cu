// Registers of texture instructions are not in the tables of operands, so that the scoreboards of the
// kernel are not known.
__global__ void sampled(cudaTextureObject_t words, unsigned *found, int count)
{
    unsigned sum = 0;
    for (int i = 0; i < count; i += 7) {
        unsigned value = tex1Dfetch<unsigned>(words, i + threadIdx.x);
        if (value > sum) value += found[i + 1];
        sum += value * found[i + 2];
    }
    found[threadIdx.x] = sum;
}
