#include "picture.h"

__global__ void flip(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int width) {
  int x = threadIdx.x, y = blockIdx.x;
  uchar4 pixel = surf2Dread<uchar4>(in, x * 4, y, cudaBoundaryModeClamp);
  surf2Dwrite(pixel, out, (width - 1 - x) * 4, y, cudaBoundaryModeZero);
  ushort2 cell;
  surf3Dread(&cell, in, x * 4, y, 0);
  surf1Dwrite(int(cell.x + cell.y), out, x * 4);
}
