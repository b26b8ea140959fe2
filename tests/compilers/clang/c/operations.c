#include "host.h"

static int depth;
int tentative_count;
SHARED int rows[64];
CONSTANT const float weights[8] = {1, 2, 4, 8, 16, 32, 64, 128};

static int add(int a, int b) { return a + b + depth++; }
static int subtract(int a, int b) { return a - b; }
int multiply(int a, int b) { return a * b; }
static int shift(int a, int b) { return a << b; }
int (*const operations[LAST])(int, int) = {add, subtract, multiply, shift};

int apply(operation op, int a, int b) {
  switch (op) {
  case ADD: return add(a, b);
  case SUBTRACT: return walk(&first_node, a);
  case MULTIPLY: return multiply(a, multiply(a, b));
  case SHIFT: return count("i", a);
  default: __builtin_trap();
  }
}

int count(const char *kinds, ...) {
  __builtin_va_list list;
  __builtin_va_start(list, kinds);
  int sum = 0;
  for (; *kinds; kinds++)
    switch (*kinds) {
    case 'i': sum += __builtin_va_arg(list, int); break;
    case 'd': sum += (int)__builtin_va_arg(list, double); break;
    case 'l': sum += (int)__builtin_va_arg(list, long); break;
    case 's': sum += *__builtin_va_arg(list, char *); break;
    }
  __builtin_va_end(list);
  return sum;
}
