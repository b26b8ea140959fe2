template <class T> __device__ T factor = 2;
template <class T> __global__ void scale(T *p) { *p *= factor<T>; }
