extern __managed__ int shared_count;
__managed__ long long total;
static __managed__ int hidden = 4;
__global__ void sum() { total += shared_count + hidden; }
