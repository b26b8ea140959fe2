// What threads of a block agree on is not in the tables of operands, so that the scoreboards of the
// kernel are not known.
__global__ void agree(const unsigned *words, unsigned *found, int count)
{
    unsigned sum = 0;
    for (int i = 0; i < count; i += 7) {
        unsigned value = words[i + threadIdx.x];
        if (__syncthreads_and(value > sum)) value += found[i + 1];
        sum += value * words[i + 2];
    }
    found[threadIdx.x] = sum;
}
