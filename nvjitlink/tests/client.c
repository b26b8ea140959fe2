/* A client as C programs are: its header makes calls of a minor version's functions. */
#include <stdint.h>
#include <stdio.h>

typedef struct link *handle;
extern int __nvJitLinkCreate_13_0(handle *, uint32_t, const char **);
extern int __nvJitLinkAddFile_13_0(handle, int, const char *);
extern int __nvJitLinkComplete_13_0(handle);
extern int __nvJitLinkGetLinkedCubinSize_13_0(handle, size_t *);
extern int __nvJitLinkDestroy_13_0(handle *);

int main(void) {
    const char *options[] = {"-arch=sm_90"};
    handle both, one;
    size_t size = 0;
    if (__nvJitLinkCreate_13_0(&both, 1, options) || __nvJitLinkCreate_13_0(&one, 1, options)) return 1;
    if (__nvJitLinkAddFile_13_0(both, 1, "a.90.cubin") || __nvJitLinkAddFile_13_0(both, 1, "b.90.cubin")) return 2;
    if (__nvJitLinkAddFile_13_0(one, 1, "a.90.cubin")) return 3;
    int complete = __nvJitLinkComplete_13_0(both);
    if (__nvJitLinkGetLinkedCubinSize_13_0(both, &size)) return 4;
    printf("complete %d, %zu bytes, undefined %d\n", complete, size, __nvJitLinkComplete_13_0(one));
    return __nvJitLinkDestroy_13_0(&both) | __nvJitLinkDestroy_13_0(&one) | (both || one);
}
