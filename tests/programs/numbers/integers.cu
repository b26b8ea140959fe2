#include "kinds.h"

__global__ void integers(long long *a, unsigned long long *b, int *c, unsigned *d) {
  a[0] = a[1] / a[2] + a[3] % a[4];
  b[0] = b[1] / b[2] + b[3] % b[4] + __umul64hi(b[5], b[6]);
  c[0] = c[1] / c[2] + __popc(c[3]) + __clz(c[4]) + __ffs(c[5]) + __vabsdiffu4(d[1], d[2]);
  d[0] = d[1] % d[2] + __brev(d[3]) + __byte_perm(d[4], d[5], 0x3210) + __dp4a(d[6], d[7], d[8]);
  __int128 wide = (__int128)a[5] * b[7];
  a[6] = (long long)(wide / c[6]);
}
