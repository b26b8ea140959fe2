__managed__ int shared_by_both = 3;
__global__ void ka() { shared_by_both = 1; }
