// A kernel of which the output needs a rule that its object does not confirm.
__global__ void mixed(const unsigned* in, unsigned* out) {
    unsigned v0 = in[threadIdx.x], v1 = in[threadIdx.x + 32], v2 = blockIdx.x, v3 = 7;
    v3 ^= atomicAdd(out + 7, v0);
    v3 += in[(v2 + 2) & 1023];
    v3 += in[(v2 + 1) & 1023];
    v2 += in[(v0 + 6) & 1023];
    for (unsigned i = 0; i < (v2 & 15); i++) {
        out[v2 & 1023] = v3;
        v2 += in[(v2 + 2) & 1023];
    }
    out[threadIdx.x] = v0 + v1 + v2 + v3;
}
