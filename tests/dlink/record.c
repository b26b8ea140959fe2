/* Stands in for the CUDA runtime, and prints what a program registers and launches. The device code
   that is registered goes to the files 0.fatbin, 1.fatbin, ... of the folder $RECORD. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define MAGIC 0x466243b1
#define LINKED 2
#define MOST 64

struct descriptor {
    int magic;
    int version;
    const unsigned char *fatbin;
    /* Of a linked one what its modules had before they were linked, and a null pointer. */
    const unsigned char **prelinked;
};

/* What a handle points to. */
struct registered {
    int number;
    int has_ended;
};

static struct registered registered[MOST];
static int count;
static struct {
    const void *host;
    const char *name;
} functions[MOST];
static int function_count;

/* Returns the size of a fatbin, whose header has that of what follows it. */
static size_t size(const unsigned char *fatbin)
{
    return 16 + *(const unsigned long long *)(fatbin + 8);
}

static unsigned long long hash(const unsigned char *bytes, size_t size)
{
    unsigned long long hash = 0xcbf29ce484222325;

    for (size_t index = 0; index < size; ++index)
        hash = (hash ^ bytes[index]) * 0x100000001b3;
    return hash;
}

static void keep(const unsigned char *fatbin, int number)
{
    const char *folder = getenv("RECORD");
    char name[4096];
    FILE *file;

    if (!folder)
        return;
    snprintf(name, sizeof name, "%s/%d.fatbin", folder, number);
    file = fopen(name, "wb");
    if (!file || fwrite(fatbin, 1, size(fatbin), file) != size(fatbin) || fclose(file))
        abort();
}

static int number(void **handle)
{
    return ((struct registered *)handle)->number;
}

void **__cudaRegisterFatBinary(struct descriptor *descriptor)
{
    struct registered *handle = &registered[count];

    if (count == MOST || descriptor->magic != MAGIC)
        abort();
    handle->number = count++;
    printf("%d: registered, version %d\n", handle->number, descriptor->version);
    keep(descriptor->fatbin, handle->number);
    if (descriptor->version == LINKED)
        for (const unsigned char **fatbin = descriptor->prelinked; *fatbin; ++fatbin)
            printf("%d: prelinked fatbin of %zu bytes, %016llx\n", handle->number, size(*fatbin),
                   hash(*fatbin, size(*fatbin)));
    return (void **)handle;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    printf("%d: end\n", number(handle));
    if (((struct registered *)handle)->has_ended++)
        abort();
}

void __cudaUnregisterFatBinary(void **handle)
{
    printf("%d: unregistered\n", number(handle));
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit)
{
    printf("%d: function %s %s %d\n", number(handle), device, name, limit);
    if (function_count < MOST) {
        functions[function_count].host = host;
        functions[function_count++].name = name;
    }
}

void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int external,
                       size_t size, int constant, int global)
{
    (void)host;
    printf("%d: variable %s %s %d %zu %d %d\n", number(handle), address, name, external, size, constant,
           global);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *address, const char *name, int external,
                              size_t size, int constant, int global)
{
    (void)host;
    printf("%d: managed variable %s %s %d %zu %d %d\n", number(handle), address, name, external, size,
           constant, global);
}

void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size)
{
    (void)host;
    printf("%d: host variable %s %zu\n", number(handle), name, size);
}

char __cudaInitModule(void **handle)
{
    printf("%d: managed variables\n", number(handle));
    return 1;
}

unsigned __cudaPushCallConfiguration(void)
{
    return 0;
}

int __cudaPopCallConfiguration(void)
{
    return 0;
}

static const char *name_of(const void *host)
{
    for (int index = 0; index < function_count; ++index)
        if (functions[index].host == host)
            return functions[index].name;
    return "no kernel";
}

/* Newer front ends ask for a kernel once, and launch it as often as they like. */
int __cudaGetKernel(const void **kernel, const void *host)
{
    *kernel = host;
    return 0;
}

int __cudaLaunchKernel(const void *kernel)
{
    printf("launch of %s\n", name_of(kernel));
    return 0;
}

int cudaLaunchKernel(const void *host)
{
    printf("launch of %s\n", name_of(host));
    return 0;
}

int cudaMemcpyToSymbol(void)
{
    return 0;
}
