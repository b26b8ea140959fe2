__managed__ int shared_count = 3;
__managed__ float buffer[8];
extern __managed__ long long total;
__global__ void run() { shared_count += (int)total; buffer[threadIdx.x & 7] = 1; }
