// The parts of a C++ runtime that the others need.
#include <cstddef>
#include <typeinfo>

extern "C" void *malloc(std::size_t);
extern "C" void free(void *);
extern "C" void abort() { __builtin_trap(); }
extern "C" void __cxa_pure_virtual() { __builtin_trap(); }
extern "C" int __cxa_atexit(void (*)(void *), void *, void *) { return 0; }
void *operator new(std::size_t n) { return malloc(n); }
void operator delete(void *p) noexcept { free(p); }
void operator delete(void *p, std::size_t) noexcept { free(p); }
namespace std {
void __throw_bad_function_call() { __builtin_trap(); }
void __throw_length_error(const char *) { __builtin_trap(); }
void __throw_out_of_range_fmt(const char *, ...) { __builtin_trap(); }
void __throw_bad_variant_access(const char *) { __builtin_trap(); }
void __throw_bad_alloc() { __builtin_trap(); }
void __throw_bad_array_new_length() { __builtin_trap(); }
type_info::~type_info() {}
}
extern "C" void *__dynamic_cast(const void *p, const void *, const void *, std::ptrdiff_t) { return const_cast<void *>(p); }
// The tables that type information refers to; nothing is ever called by them.
extern "C" void *_ZTVN10__cxxabiv117__class_type_infoE[8] = {};
extern "C" void *_ZTVN10__cxxabiv120__si_class_type_infoE[8] = {};
extern "C" void *_ZTVN10__cxxabiv121__vmi_class_type_infoE[8] = {};
