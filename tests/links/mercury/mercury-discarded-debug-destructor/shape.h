// A virtual destructor whose optimised code is longer than that for the debugger, and works the
// address of the table out in uniform registers.
struct Shape {
    volatile int corners[64];
    __device__ virtual ~Shape() {
#pragma unroll
        for (int corner = 0; corner < 64; corner++) {
            corners[corner] = corner;
        }
    }
};

inline __device__ int visit(int sides) {
    Shape *shape = new Shape();
    delete shape;
    return sides + 1;
}
