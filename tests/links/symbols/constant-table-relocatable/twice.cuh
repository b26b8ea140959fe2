typedef int (*function)(int);
template <class T> __device__ __noinline__ int twice(int x) { return x * (int)sizeof(T) + 1; }
template <class T> inline __constant__ T squares[4] = {0, 1, 4, 9};
