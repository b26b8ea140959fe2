__device__ int total = 3; __device__ int f(int x){ return x*total+7; }
