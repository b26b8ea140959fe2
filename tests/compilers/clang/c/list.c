#include "host.h"

static int depth = 9;
static int visit_leaf(node *at, int x) { return at->bits + x + depth; }
static int visit_all(node *at, int x) { return at->next ? at->next->visit(at->next, x + at->more) : x; }

// Nodes that name each other, a hole between them, bit fields, addresses in the middle.
static node last = {0, "last", visit_leaf, 3, 200, 1.5};
static node middle = {&last, "middle" + 3, visit_all, 31, 2047, -0.0};
node first_node = {&middle, "first", visit_all, 1, 2, 1e300};

int counts[5] = {[2] = 7, [4] = 9};
int tentative_count;
__attribute__((aligned(128))) char padded[3] = "ab";

int walk(node *at, int x) {
  tentative_count++;
  return at->visit(at, x);
}

__attribute__((weak)) int adjust(int x) { return x - counts[x & 3]; }
