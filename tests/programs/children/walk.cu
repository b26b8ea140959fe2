#include "tree.h"

__global__ void walk(Task task) {
  Node node = task.nodes[task.root];
  atomicAdd(task.sum, weigh(node, task.depth));
  if (threadIdx.x == 0) {
    descend(task, node.left);
    descend(task, node.right);
  }
}
