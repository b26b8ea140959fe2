// A function with the table of a switch, in each of three files.
template <class T>
__device__ __noinline__ T chosen(int x, T y) {
    switch (x) {
    case 0: return y * 3;
    case 1: return y ^ 5;
    case 2: return y / 7;
    case 3: return y % 11;
    case 4: return y << 3;
    case 5: return __popc(y);
    case 6: return y * y * y;
    case 7: return (int)clock();
    }
    return y;
}
