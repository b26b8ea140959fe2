#pragma once

struct Node {
  int left, right, value;
};

struct Task {
  Node *nodes;
  int root;
  unsigned depth;
  int *sum;
};

extern __global__ void walk(Task task);
extern __global__ void finish(int *sum);
extern __device__ void descend(const Task &task, int child);
extern __device__ int weigh(const Node &node, unsigned depth);
