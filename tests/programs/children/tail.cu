#include "tree.h"

__global__ void finish(int *sum) { *sum = -*sum; }

__global__ void start(Node *nodes, int *sum) {
  walk<<<1, 32, 128>>>(Task{nodes, 0, 0, sum});
  finish<<<1, 1, 0, cudaStreamTailLaunch>>>(sum);
}
