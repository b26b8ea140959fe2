/* A module as an object of nvcc's has it, for any host: -DID=... is its id, -DNUMBER=... tells it from others. */
#include <stdio.h>

#define NAME_OF(begin, id) begin##id
#define NAME(begin, id) NAME_OF(begin, id)
#define TEXT_OF(id) #id
#define TEXT(id) TEXT_OF(id)

/* A fatbin of 8 bytes. */
static const unsigned long long fatbin[] = {0x100001ba55ed50, 8, NUMBER};

const struct {
    int magic;
    int version;
    const void *fatbin;
    const void *unused;
} NAME(__fatbinwrap, ID) __attribute__((section(".nvFatBinSegment"))) = {0x466243b1, 1, fatbin, 0};

extern void NAME(__cudaRegisterLinkedBinary, ID)(void (*)(void **), const void *, const char *, void (*)(const char **));
extern void __cudaRegisterFunction(void **, const void *, const char *, const char *, int);

static const char id[] __attribute__((section("__nv_module_id"))) = TEXT(ID);
static char kernel;

static void is_linked(void **handle)
{
    __cudaRegisterFunction(handle, &kernel, "kernel of " TEXT(ID), TEXT(ID), NUMBER);
}

static void has_id(const char **id)
{
    printf("%s\n", *id);
}

__attribute__((constructor)) static void registers(void)
{
    NAME(__cudaRegisterLinkedBinary, ID)(is_linked, &NAME(__fatbinwrap, ID), id, has_id);
}
