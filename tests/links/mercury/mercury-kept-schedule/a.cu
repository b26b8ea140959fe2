// The loop is one block and leaves something pending: which scoreboards it waits for is not known.
__global__ void bits(const unsigned *words, const unsigned *table, unsigned *found, int count)
{
    unsigned high = words[threadIdx.x], low = words[threadIdx.x + 1], place = threadIdx.x;
    while (place < (unsigned)count) {
        unsigned length = table[high >> 24] & 31;
        if (length == 0) {
            high = table[place];
            low = words[high & 255];
            place += 7;
        } else {
            high = high << length | low >> (32 - length);
            low <<= length;
            place += length;
        }
        found[place & 63] = high;
    }
}
