__managed__ int shared_by_both = 3;
__global__ void kb() { shared_by_both = 2; }
