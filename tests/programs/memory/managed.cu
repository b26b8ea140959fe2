#include "layout.h"

__managed__ int shared_count = 3;
__managed__ Wide shared_wide;
__device__ volatile int flag;

__global__ void manage(int n) {
  shared_count += n;
  shared_wide.a.x = n * inline_scale;
  flag = inline_counter++;
}
