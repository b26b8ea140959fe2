#include "host.h"

static unsigned table[256];
static const unsigned short small[] = {1, 3, 7, 15, 31};

static unsigned entry(unsigned n) {
  for (int k = 0; k < 8; k++)
    n = n & 1 ? 0xedb88320u ^ (n >> 1) : n >> 1;
  return n + small[n % 5];
}

void *copy(void *to, const void *from, unsigned long n) {
  for (unsigned long i = 0; i < n; i++)
    ((char *)to)[i] = ((const char *)from)[i];
  return to;
}

int crc(const unsigned char *data, int n) {
  unsigned c = ~0u;
  if (!table[1])
    for (unsigned i = 0; i < 256; i++)
      table[i] = entry(i);
  while (n--)
    c = table[(c ^ *data++) & 255] ^ (c >> 8);
  return (int)~c;
}

KERNEL void fill(void) {
  for (unsigned i = 0; i < 256; i++)
    table[i] = entry(i);
}
