extern __shared__ double other_name[];
__device__ __noinline__ int take(int i) { other_name[i] += 1.0; __syncthreads(); return (int)other_name[i + 1]; }
