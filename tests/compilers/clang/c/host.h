// What the units share: C for a GPU without any CUDA header.
#define KERNEL __attribute__((nvptx_kernel))
#define GLOBAL __attribute__((address_space(1)))
#define SHARED __attribute__((address_space(3)))
#define CONSTANT __attribute__((address_space(4)))

typedef struct node {
  struct node *next;
  const char *name;
  int (*visit)(struct node *, int);
  unsigned bits : 5, more : 11;
  double weight;
} node;

typedef enum { ADD, SUBTRACT, MULTIPLY, SHIFT, LAST } operation;

extern node first_node;
extern int (*const operations[LAST])(int, int);
extern int counts[];
extern CONSTANT const float weights[8];
extern SHARED int rows[64];

int walk(node *, int);
int count(const char *, ...);
int apply(operation, int, int);
void *copy(void *, const void *, unsigned long);
int crc(const unsigned char *, int);
