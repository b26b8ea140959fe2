"""Random programs of relocatable device code in CUDA C++, for what only nvcc writes: debug information, templates, virtual functions.

The main generator hands some of its seeds to `write`. Sources are named m0.cu, m1.cu, ...; all of them include program.h, so that templates and
inline functions occur in several modules.
"""
import random

TYPES = ["int", "float", "unsigned", "double", "long long"]


class Program:
    def __init__(self, seed):
        self.random = r = random.Random(f"cxx {seed}")
        self.modules = r.randint(2, 3)
        self.templates = r.randint(1, 3)
        self.inlines = r.randint(0, 2)
        # Name and home of functions that other modules call.
        self.functions = [(f"f{i}", r.randrange(self.modules)) for i in range(r.randint(1, 5))]
        self.variables = [(f"v{i}", r.randrange(self.modules), r.choice(["__device__", "__device__", "__constant__", "__device__ __managed__"]))
                          for i in range(r.randint(0, 4))]
        self.classes = r.random() < 0.4
        self.dynamic = r.random() < 0.4
        self.tables = r.random() < 0.3

    def header(self):
        r, lines = self.random, ["#pragma once"]
        for i in range(self.templates):
            loop = r.choice(["", "for (int i = 0; i < b; i++) s = s * a + T(i);", "if (b > 3) s += T(b);"])
            lines.append(f"template <class T, int N> __device__ __noinline__ T t{i}(T a, int b) {{ T s = a + T(N); {loop} return s * T({r.randint(1, 9)}); }}")
        for i in range(self.inlines):
            lines.append(f"inline __device__ __noinline__ int i{i}(int a) {{ static __device__ int calls = {r.randint(0, 3)}; return a * {r.randint(2, 99)} + calls++; }}")
        if self.classes:
            lines.append("struct Base { int m; __device__ virtual int get(int a); __device__ virtual ~Base() {} };")
            lines.append("struct Derived : Base { float x[3]; __device__ int get(int a) override { return a + (int)x[1]; } };")
        for name, _ in self.functions:
            lines.append(f"__device__ int {name}(int *p, int a);")
        for name, _, space in self.variables:
            lines.append(f"extern {space} int {name}[4];")
        return "\n".join(lines) + "\n"

    def module(self, index):
        r, lines = self.random, ['#include "program.h"']
        if self.dynamic and r.random() < 0.7:
            lines.append(f"extern __shared__ {r.choice(['int', 'double'])} dynamic{r.choice(['', str(index)])}[];")
        dynamic = lines[-1].split()[-1][:-3] if lines[-1].startswith("extern") else None
        lines.append(f"static __device__ int local = {index};")
        lines.append(f"static __device__ __noinline__ int helper(int a) {{ int x[4] = {{a, local, 3, 4}}; return x[a & 3]; }}")
        if self.classes and index == 0:
            lines.append("__device__ int Base::get(int a) { return m + a; }")
        for name, home, space in self.variables:
            if home == index:
                lines.append(f"{space} int {name}[4] = {{{r.randint(0, 9)}, 2}};")
        for name, home in self.functions:
            if home == index:
                lines.append(f"__device__ int {name}(int *p, int a) {{\n{self.body(dynamic, name)}  return p[a];\n}}")
        if self.tables and index == 0:
            names = ", ".join(name for name, _ in self.functions)
            lines.append(f"typedef int (*Function)(int *, int);\n__device__ Function table[] = {{{names}}};")
            lines.append("__global__ void indirect(int *p) { p[0] = table[p[1]](p, p[2]); }")
        for number in range(r.choice([0, 1, 1, 2])):
            lines.append(f"__global__ void k{index}_{number}(int *p, int a) {{\n{self.body(dynamic, None)}}}")
        return "\n".join(lines) + "\n"

    def body(self, dynamic, name):
        """Statements that change p[a]. A function calls only those before it, or sometimes itself."""
        r, out = self.random, []
        names = [other for other, _ in self.functions]
        callable_names = names[:names.index(name)] if name else names
        if name and r.random() < 0.1:
            callable_names = callable_names + [name]
        for _ in range(r.randint(1, 4)):
            kind = r.randrange(9)
            if kind == 0:
                out.append(f"p[a] += t{r.randrange(self.templates)}<{r.choice(TYPES)}, {r.randint(1, 2)}>(p[1], p[2]);")
            elif kind == 1 and self.inlines:
                out.append(f"p[a] ^= i{r.randrange(self.inlines)}(p[1]);")
            elif kind == 2 and callable_names:
                out.append(f"p[a] += {r.choice(callable_names)}(p, p[2]);")
            elif kind == 3 and self.variables:
                out.append(f"p[a] += {r.choice(self.variables)[0]}[p[3] & 3];")
            elif kind == 4:
                size = r.choice([1, 8, 33])
                out.append(f"{{ __shared__ {r.choice(TYPES)} s[{size}]; s[a % {size}] = p[1]; __syncthreads(); p[a] += (int)s[p[2] % {size}]; }}")
            elif kind == 5 and dynamic:
                out.append(f"{dynamic}[a] = p[1]; __syncthreads(); p[a] += (int){dynamic}[p[2]];")
            elif kind == 6 and self.classes:
                out.append("{ Base b; Derived d; Base *which = p[1] ? &b : &d; d.x[1] = p[2]; p[a] += which->get(p[3]); }")
            elif kind == 7:
                out.append("switch (p[1]) { case 0: p[a] = 1; break; case 1: p[a] += 5; break; case 2: p[a] ^= 3; break; case 3: p[a] *= 7; break; case 4: p[a] -= 9; }")
            else:
                out.append("p[a] += helper(p[1]);")
        return "".join(f"  {line}\n" for line in out)


def write(seed, folder):
    """Writes the program; returns its lines for modules.txt."""
    program = Program(seed)
    (folder / "program.h").write_text(program.header())
    kind = program.random.choice(["", "-lineinfo", "-G", "-G", "mixed"])
    lines = []
    for index in range(program.modules):
        (folder / f"m{index}.cu").write_text(program.module(index))
        option = program.random.choice(["", "-lineinfo", "-G"]) if kind == "mixed" else kind
        lines.append(f"m{index}.cu {option}".rstrip())
    return lines
