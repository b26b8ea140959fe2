// Exceptions that go through a link stub of one module, -DID=..., at each of its calls; and what a stub has to keep of registers and
// of the stack.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define NAME_OF(begin, id) begin##id
#define NAME(begin, id) NAME_OF(begin, id)

using Callback = void (*)(void **);

extern "C" void NAME(__cudaRegisterLinkedBinary, ID)(Callback, const void *, const char *, void (*)(const char **));

static const unsigned long long fatbin[] = {0x100001ba55ed50, 8, 1};
struct Descriptor {
    int magic;
    int version;
    const void *fatbin;
    const void *unused;
};
extern "C" const Descriptor NAME(__fatbinwrap, ID) = {0x466243b1, 1, fatbin, nullptr};

// The call at which an exception is thrown, and how many there were.
static int thrown_at;
static int calls;

static void arrive()
{
    if (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) % 16 != 0)
        std::abort();
    // Registers that a call need not keep are not kept.
#ifdef __x86_64__
    asm volatile("xor %%eax, %%eax; mov %%rax, %%rcx; mov %%rax, %%rdx; mov %%rax, %%rsi; mov %%rax, %%rdi; mov %%rax, %%r8;"
                 "mov %%rax, %%r9; mov %%rax, %%r10; mov %%rax, %%r11" ::
                     : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11");
#else
    asm volatile("mov x0, 0; mov x1, 0; mov x2, 0; mov x3, 0; mov x4, 0; mov x5, 0; mov x6, 0; mov x7, 0; mov x8, 0; mov x9, 0;"
                 "mov x10, 0; mov x11, 0; mov x12, 0; mov x13, 0; mov x14, 0; mov x15, 0; mov x16, 0; mov x17, 0" ::
                     : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
                       "x17");
#endif
    if (calls++ == thrown_at)
        throw calls;
}

static void *handle;
extern "C" void **__cudaRegisterFatBinary(void *)
{
    arrive();
    return &handle;
}
extern "C" void __cudaRegisterFatBinaryEnd(void **given)
{
    arrive();
    if (given != &handle)
        std::abort();
}
extern "C" void __cudaUnregisterFatBinary(void **given)
{
    std::puts(given == &handle ? "unregistered" : "another handle");
}
static void has_id(const char **)
{
    arrive();
}
static void is_linked(void **given)
{
    arrive();
    if (given != &handle)
        std::abort();
}

int main(int count, char **words)
{
    thrown_at = count > 1 ? std::atoi(words[1]) : -1;
    // Values that are in registers which calls keep.
    std::uintptr_t values[8];
    for (std::uintptr_t index = 0; index < 8; ++index)
        values[index] = index * 1000 + count;
    std::uintptr_t a = values[0], b = values[1], c = values[2], d = values[3], e = values[4], f = values[5], g = values[6],
                   h = values[7];
    asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));
    asm volatile("" : "+r"(f), "+r"(g), "+r"(h));
    try {
        NAME(__cudaRegisterLinkedBinary, ID)(is_linked, &NAME(__fatbinwrap, ID), nullptr, has_id);
        std::puts("returned");
    } catch (int number) {
        std::printf("caught %d\n", number);
    }
    if (a + b + c + d + e + f + g + h != 28000 + 8 * static_cast<std::uintptr_t>(count))
        std::abort();
}
