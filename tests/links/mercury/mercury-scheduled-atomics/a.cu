// Kernels with atomic operations of 64 bits at generic addresses, which write a predicate before their
// result, with float and signed ones, and with a load that a block waits for with those of another.
typedef unsigned long long u64;

__global__ void largest(u64 *cells, u64 *data, int count) {
    int i = threadIdx.x;
    u64 value = data[i], other = data[count], old = 1;
    if (count > 4) {
        other = value + data[i];
        asm volatile("atom.max.u64 %0, [%1], %2;" : "=l"(old) : "l"(cells + i), "l"(value));
        value = data[i + 1] * old;
    }
    data[i] = old + value * other + other;
}

__global__ void added(u64 *cells, u64 *data, int count) {
    int i = threadIdx.x;
    u64 value = data[i], other = data[count], old = 1, sum = 0;
    if (count > 4) {
        asm volatile("atom.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(cells + i), "l"(value));
        value = data[i + 6] * old;
        sum += old;
    }
    value = data[i] + value;
    data[i] = old + value + other + sum;
}

__global__ void exchanged(u64 *cells, u64 *data, int count) {
    int i = threadIdx.x;
    u64 value = data[i], other = data[count], old = 1;
    if (count > 4) {
        other = value + data[i];
        asm volatile("atom.global.exch.b64 %0, [%1], %2;" : "=l"(old) : "l"(cells + i), "l"(value));
    }
    value = data[i] + value;
    data[i] = old + value + other;
}

__global__ void swapped(u64 *cells, u64 *data, int count) {
    int i = threadIdx.x;
    u64 value = data[i], other = data[count], old = 1;
    if (count > 4) {
        asm volatile("atom.cas.b64 %0, [%1], %2, %3;" : "=l"(old) : "l"(cells + i), "l"(value), "l"(other));
        value = data[i + 3] * old;
    }
    data[i] = old + value + other;
}

__global__ void signed_and_float(float *cells, float *data, int *counts, int count) {
    int i = threadIdx.x;
    float value = data[i];
    if (i < count) {
        value += atomicAdd(cells + i, value);
        data[i + atomicMax(counts + 1, i)] = value;
    }
    data[i] = value;
}
