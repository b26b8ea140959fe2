#include "host.h"

// The same static names as in the other units.
static int depth = 3;
static const char *names[] = {"main", "second", "third"};
static int step(int x) { return x * depth + 1; }

__attribute__((weak)) int adjust(int x) { return x + 1; }

KERNEL void walk_all(GLOBAL int *out, int n) {
  out[0] = walk(&first_node, n);
  out[1] = step(out[0]) + adjust(n);
  out[2] = names[n & 1][0] + counts[2];
  if (n > 7)
    names[0] = names[2];
}

KERNEL void apply_all(GLOBAL int *out, operation op) {
  int x = __nvvm_read_ptx_sreg_tid_x();
  rows[x & 63] = x;
  __nvvm_bar_sync(0);
  out[x] = apply(op, rows[63 - (x & 63)], (int)weights[x & 7]);
  out[0] = operations[op](x, 2);
}

KERNEL void variable_arguments(GLOBAL int *out) { out[0] = count("iid", 1, 2, 3.5); }

KERNEL void check(GLOBAL unsigned char *data, GLOBAL int *out, int n) {
  char local[100];
  copy(local, (void *)data, n);
  out[0] = crc((unsigned char *)local, n);
}
