#!/usr/bin/env python3
"""Makes one random program of relocatable device code, as PTX.

    tests/conformance/generate.py SEED FOLDER [ARCH]

writes m0.ptx, m1.ptx, ... and modules.txt (one line a module, in link order: its name, then options for ptxas), and options.txt with options
of the link. Some seeds are programs in CUDA C++ (generate_cxx.py): the names in modules.txt then end in `.cu`, options are nvcc's. The same seed
makes the same program on every machine: only `random.Random(seed)` decides, and nothing iterates over a set. ARCH (sm_90 if it is left out) is
what modules say as their `.target`, and changes nothing else.

    tests/conformance/generate.py --serve

makes a program for each line `SEED FOLDER ARCH` that it reads.
"""
import dataclasses
import pathlib
import random
import sys

import generate_cxx
import generate_extra

HEADER = ".version 9.0\n.target {arch}\n.address_size 64\n"
OPERATIONS = ["add.s32", "sub.s32", "xor.b32", "and.b32", "or.b32", "mul.lo.s32", "min.s32", "max.s32"]

# Prototypes of device functions: (result, parameters), each a PTX type.
PROTOTYPES = [("b32", ("b32",)), ("b32", ("b32", "b32")), ("b64", ("b64", "b32")), (None, ("b32",)), ("f32", ("f32", "b32"))]


@dataclasses.dataclass
class Function:
    name: str
    home: int
    linkage: str  # visible, weak, static
    prototype: int
    callees: list = dataclasses.field(default_factory=list)
    copies: tuple = ()  # modules that define it; more than one if weak
    taken: bool = False


@dataclasses.dataclass
class Variable:
    name: str
    home: int
    linkage: str  # visible, weak, static, common
    space: str  # global, const, shared
    align: int
    size: int
    value: object  # None: not initialised; a list of 32-bit numbers; or names whose addresses it holds
    copies: tuple = ()


class Program:
    def __init__(self, seed, arch, extra=False):
        # Decisions of generate_extra.py; none for programs without it.
        self.extra = random.Random(f"extra {seed}") if extra else None
        self.extras = {step.__name__: self.extra.random() < 0.35 for step, _ in generate_extra.STEPS} if extra else {}
        self.sm = int("".join(c for c in arch if c.isdigit()))
        self.wanted = {}  # textures that other modules define for one, by module
        self.random = random.Random(seed)
        self.source_lines = False
        self.arch = arch
        self.modules = self.random.randint(2, 4)
        self.functions = []
        self.variables = []
        self.tables = []
        self.features = {name: self.random.random() < chance for name, chance in
                         dict(indirect=0.45, recursion=0.2, switch=0.5, barrier=0.5, shared=0.7, system=0.3, weak=0.6, common=0.3,
                              undefined=0.05, duplicate=0.04, dynamic=0.25).items()}
        self.make_variables()
        self.make_functions()
        self.make_tables()

    def copies(self, home, linkage):
        if linkage != "weak":
            return (home,)
        others = [m for m in range(self.modules) if m != home and self.random.random() < 0.5]
        return tuple(sorted([home, *others]))

    def make_variables(self):
        r = self.random
        for index in range(r.randint(2, 10)):
            space = r.choice(["global", "global", "const", "shared" if self.features["shared"] else "global"])
            linkage = r.choices(["visible", "static", "weak"], [5, 3, 1 if self.features["weak"] and space != "shared" else 0])[0]
            if self.features["common"] and space == "global" and r.random() < 0.3:
                linkage = "common"
            words = r.choice([1, 1, 2, 3, 7, 16, 33])
            value = None
            if space != "shared" and linkage != "common" and r.random() < 0.6:
                value = [r.getrandbits(16) for _ in range(words)]
            home = r.randrange(self.modules)
            # Statics share a few names, so that the same name occurs in several modules.
            name = f"s{r.randrange(3)}_{space}" if linkage == "static" else f"v{index}"
            if any(v.name == name and v.home == home for v in self.variables):
                continue
            copies = self.copies(home, "weak" if linkage == "common" else linkage)
            self.variables.append(Variable(name, home, linkage, space, r.choice([4, 4, 8, 16]), 4 * words, value, copies))

    def make_functions(self):
        r = self.random
        for index in range(r.randint(3, 14)):
            linkage = r.choices(["visible", "static", "weak"], [6, 2, 2 if self.features["weak"] else 0])[0]
            home = r.randrange(self.modules)
            name = f"h{r.randrange(3)}" if linkage == "static" else f"f{index}"
            if any(f.name == name and f.home == home for f in self.functions):
                continue
            self.functions.append(Function(name, home, linkage, r.choices(range(len(PROTOTYPES)), [5, 2, 1, 2, 1])[0],
                                           copies=self.copies(home, linkage)))
        for index, function in enumerate(self.functions):
            later = self.functions[index + 1:]
            pool = self.functions if self.features["recursion"] and r.random() < 0.3 else later
            visible = [g for g in pool if g.linkage != "static" or function.copies == (g.home,)]
            if visible:
                function.callees = [r.choice(visible) for _ in range(r.choice([0, 0, 1, 1, 2, 3]))]

    def make_tables(self):
        """Tables of function addresses: an array in global memory of one module, that others read."""
        if not self.features["indirect"]:
            return
        for index in range(self.random.randint(1, 2)):
            home = self.random.randrange(self.modules)
            prototype = self.random.choice([f.prototype for f in self.functions])
            names = [f for f in self.functions if f.prototype == prototype and (f.linkage != "static" or f.home == home)]
            if not names:
                continue
            entries = [self.random.choice(names) for _ in range(self.random.randint(1, 4))]
            table = Variable(f"table{index}", home, "visible", "global", 8, 8 * len(entries), [f.name for f in entries], (home,))
            self.tables.append((table, prototype, entries))

    def text(self, module):
        return Module(self, module).text()


class Module:
    """Writes one module. Declarations are collected while bodies are written, and printed in front of them."""

    def __init__(self, program, index):
        self.program = program
        self.index = index
        self.random = random.Random(f"{program.random.random()} {index}")
        self.textures = False
        self.declared = []  # names, in order of first use
        self.lines = []

    def declare(self, line):
        if line not in self.declared:
            self.declared.append(line)

    def signature(self, function):
        result, parameters = PROTOTYPES[function.prototype]
        head = f"(.param .{result} r) " if result else ""
        return f".func {head}{function.name}({', '.join(f'.param .{t} a{i}' for i, t in enumerate(parameters))})"

    def use_function(self, function):
        here = self.index in function.copies
        linkage = {"visible": ".visible ", "weak": ".weak ", "static": ""}[function.linkage] if here else ".extern "
        self.declare(f"{linkage}{self.signature(function)};")

    def use_variable(self, variable):
        if self.index not in variable.copies:
            self.declare(f".extern .{variable.space} .align {variable.align} .b8 {variable.name}[{variable.size}];")

    def define_variable(self, variable):
        linkage = {"visible": ".visible ", "weak": ".weak ", "static": "", "common": ".common "}[variable.linkage]
        head = f"{linkage}.{variable.space} .align {variable.align}"
        if variable.value is None:
            return f"{head} .b8 {variable.name}[{variable.size}];"
        if isinstance(variable.value[0], str):
            return f"{head} .u64 {variable.name}[{len(variable.value)}] = {{{', '.join(variable.value)}}};"
        octets = b"".join(word.to_bytes(4, "little") for word in variable.value)
        return f"{head} .b8 {variable.name}[{variable.size}] = {{{', '.join(map(str, octets))}}};"

    def text(self):
        program, r = self.program, self.random
        bodies = []
        for function in program.functions:
            if self.index in function.copies:
                bodies.append(Body(self, function.prototype).function(function))
        if program.features["duplicate"] and self.index == 1:
            bodies.append(".visible .func twice_defined() { bar.sync 0; ret; }\n")
        if program.features["duplicate"] and self.index == 0:
            bodies.append(".visible .func twice_defined() { ret; }\n")
        for number in range(r.choice([0, 1, 1, 2, 3])):
            bodies.append(Body(self, None).kernel(f"k{self.index}_{number}"))
        variables = [self.define_variable(v) for v in program.variables if self.index in v.copies]
        for table, _, entries in program.tables:
            if self.index == table.home:
                for function in entries:
                    self.use_function(function)
                variables.append(self.define_variable(table))
        if r.random() < 0.5:
            r.shuffle(bodies)
        for kind, name in self.program.wanted.get(self.index, []):
            self.declare(f".global .{kind} {name};")
        target = self.program.arch + (", texmode_independent" if self.textures or self.program.wanted.get(self.index) else "")
        text = HEADER.format(arch=target) + "".join(line + "\n" for line in self.declared + variables) + "".join(bodies)
        return source_lines(text, self.index) if self.program.source_lines else text


def source_lines(text, index):
    """Line numbers on the steps of functions: line tables have rows only where PTX has `.loc`."""
    out = []
    for number, line in enumerate(text.split("\n")):
        if line.startswith("    ") and number % 3 == 0 and not line.lstrip().startswith("."):
            out.append(f"    .loc {1 + number % 2} {number} {number % 7 + 1}")
        out.append(line)
    return "\n".join(out) + f'.file 1 "first{index}.cu"\n.file 2 "common.h"\n'


class Body:
    def __init__(self, module, prototype):
        self.module = module
        self.program = module.program
        self.random = module.random
        self.code = []
        self.count = 0
        self.labels = 0
        self.prototype = prototype

    def emit(self, line):
        self.code.append("    " + line)

    def register(self):
        self.count += 1
        return f"%r{self.count}"

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def frame(self, head):
        registers = f"    .reg .b32 %r<{self.count + 1}>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .pred %p<2>;\n"
        return f"{head} {{\n{registers}" + "\n".join(self.code) + "\n    ret;\n}\n"

    def function(self, function):
        result, parameters = PROTOTYPES[function.prototype]
        value = self.register()
        if parameters[0] == "b64":
            self.emit(f"ld.param.b64 %d1, [a0]; cvt.u32.u64 {value}, %d1;")
        elif parameters[0] == "f32":
            self.emit(f"ld.param.f32 %f1, [a0]; cvt.rzi.s32.f32 {value}, %f1;")
        else:
            self.emit(f"ld.param.b32 {value}, [a0];")
        for index in range(1, len(parameters)):
            other = self.register()
            self.emit(f"ld.param.b32 {other}, [a{index}]; xor.b32 {value}, {value}, {other};")
        value = self.steps(value, function.callees)
        if result == "b32":
            self.emit(f"st.param.b32 [r], {value};")
        elif result == "b64":
            self.emit(f"cvt.u64.u32 %d2, {value}; st.param.b64 [r], %d2;")
        elif result == "f32":
            self.emit(f"cvt.rn.f32.s32 %f2, {value}; st.param.f32 [r], %f2;")
        else:
            self.emit(f"ld.param.b32 %r0, [a0]; st.local.b32 [scratch], {value};")
            self.code.insert(0, "    .local .align 4 .b8 scratch[16];")
        self.module.use_function(function)
        linkage = {"visible": ".visible ", "weak": ".weak ", "static": ""}[function.linkage]
        return self.frame(linkage + self.module.signature(function))

    def kernel(self, name):
        value = self.register()
        self.emit(f"ld.param.u64 %d1, [p]; ld.global.b32 {value}, [%d1];")
        pool = [f for f in self.program.functions if f.linkage != "static" or f.home == self.module.index]
        callees = [self.random.choice(pool) for _ in range(self.random.choice([0, 1, 1, 2, 3]))] if pool else []
        value = self.steps(value, callees)
        if self.program.features["undefined"] and self.random.random() < 0.5:
            self.module.declare(".extern .func nowhere(.param .b32 a0);")
            self.emit(f"{{ .param .b32 x; st.param.b32 [x], {value}; call nowhere, (x); }}")
        self.emit(f"ld.param.u64 %d1, [p]; st.global.b32 [%d1], {value};")
        bound = self.random.choice(["", "", "", " .maxntid 64, 1, 1", " .reqntid 32, 1, 1", " .minnctapersm 2 .maxntid 128, 1, 1"])
        further = ""
        if self.program.extra:
            further = generate_extra.parameters(self.program)
            bound = bound or generate_extra.kernel_head(self.program)
        return self.frame(f".visible .entry {name}(.param .u64 p{further}){bound}")

    def steps(self, value, callees):
        """Some work, with the calls among it. The value passes through all of it, so that nothing can be optimised away."""
        r, features = self.random, self.program.features
        work = [lambda v, f=f: self.call(v, f) for f in callees]
        work += [self.arithmetic] * r.randint(0, 2)
        for variable in self.program.variables:
            if r.random() < 0.25 and (self.module.index in variable.copies or variable.linkage != "static"):
                work.append(lambda v, variable=variable: self.access(v, variable))
        if features["switch"] and r.random() < 0.3:
            work.append(self.switch)
        if features["barrier"] and r.random() < 0.3:
            work.append(self.barrier)
        if features["shared"] and r.random() < 0.25:
            work.append(self.own_shared)
        if features["system"] and r.random() < 0.25:
            work.append(self.system_call)
        if features["dynamic"] and r.random() < 0.25:
            work.append(self.dynamic_shared)
        if r.random() < 0.2:
            work.append(self.pressure)
        if r.random() < 0.15:
            work.append(self.double)
        for table, prototype, _ in self.program.tables:
            if r.random() < 0.3:
                work.append(lambda v, table=table, prototype=prototype: self.indirect(v, table, prototype))
        if features["indirect"] and r.random() < 0.15:
            work.append(self.take_address)
        if self.program.extra:
            work += generate_extra.steps(self)
        r.shuffle(work)
        for step in work:
            value = step(value)
        return value

    def arithmetic(self, value):
        result = self.register()
        self.emit(f"{self.random.choice(OPERATIONS)} {result}, {value}, {self.random.randint(1, 999)};")
        return result

    def arguments(self, value, prototype):
        """Parameters of a call: declarations, stores, names, and how the result comes back."""
        result, parameters = PROTOTYPES[prototype]
        out = []
        for index, kind in enumerate(parameters):
            out.append(f".param .{kind} x{index};")
            if kind == "b64":
                out.append(f"cvt.u64.u32 %d3, {value}; st.param.b64 [x{index}], %d3;")
            elif kind == "f32":
                out.append(f"cvt.rn.f32.s32 %f3, {value}; st.param.f32 [x{index}], %f3;")
            else:
                out.append(f"st.param.b32 [x{index}], {value};")
        names = ", ".join(f"x{index}" for index in range(len(parameters)))
        back, target = "", value
        if result:
            out.append(f".param .{result} y;")
            target = self.register()
            back = {"b32": f"ld.param.b32 {target}, [y];", "b64": f"ld.param.b64 %d4, [y]; cvt.u32.u64 {target}, %d4;",
                    "f32": f"ld.param.f32 %f4, [y]; cvt.rzi.s32.f32 {target}, %f4;"}[result]
        return " ".join(out), ("(y), " if result else ""), names, back, target

    def call(self, value, function):
        self.module.use_function(function)
        setup, result, names, back, target = self.arguments(value, function.prototype)
        self.emit(f"{{ {setup} call {result}{function.name}, ({names}); {back} }}")
        return target

    def indirect(self, value, table, prototype):
        self.module.use_variable(table)
        result, parameters = PROTOTYPES[prototype]
        setup, back_name, names, back, target = self.arguments(value, prototype)
        label = self.label()
        head = f"(.param .{result} _) " if result else ""
        self.emit(f"{label}: .callprototype {head}_ ({', '.join(f'.param .{t} _' for t in parameters)});")
        self.emit(f"ld.global.b64 %d5, [{table.name}+{8 * self.random.randrange(table.size // 8)}];")
        self.emit(f"{{ {setup} call {back_name}%d5, ({names}), {label}; {back} }}")
        return target

    def take_address(self, value):
        pool = [f for f in self.program.functions if f.linkage != "static" or self.module.index in f.copies]
        if not pool:
            return value
        function = self.random.choice(pool)
        self.module.use_function(function)
        result = self.register()
        self.emit(f"mov.u64 %d6, {function.name}; cvt.u32.u64 {result}, %d6; add.s32 {result}, {result}, {value};")
        return result

    def access(self, value, variable):
        self.module.use_variable(variable)
        offset = 4 * self.random.randrange(variable.size // 4)
        place = f"[{variable.name}+{offset}]" if offset else f"[{variable.name}]"
        result = self.register()
        if variable.space != "const" and self.random.random() < 0.4:
            self.emit(f"st.{variable.space}.b32 {place}, {value};")
            return value
        if variable.space == "global" and self.random.random() < 0.3:
            self.emit(f"mov.u64 %d7, {variable.name}; cvta.global.u64 %d7, %d7; cvt.u32.u64 {result}, %d7; add.s32 {result}, {result}, {value};")
            return result
        self.emit(f"ld.{variable.space}.b32 {result}, {place}; add.s32 {result}, {result}, {value};")
        return result

    def own_shared(self, value):
        """A shared variable of this function alone."""
        name = f"own{self.label()}"
        words = self.random.choice([1, 2, 5, 12, 40])
        self.code.insert(0, f"    .shared .align {self.random.choice([4, 4, 8, 16])} .b8 {name}[{4 * words}];")
        result = self.register()
        self.emit(f"st.shared.b32 [{name}], {value}; bar.sync 0; ld.shared.b32 {result}, [{name}+{4 * (words - 1)}];")
        return result

    def dynamic_shared(self, value):
        self.module.declare(".extern .shared .align 16 .b8 dynamic[];")
        result = self.register()
        self.emit(f"st.shared.b32 [dynamic+4], {value}; bar.sync 0; ld.shared.b32 {result}, [dynamic+8];")
        return result

    def barrier(self, value):
        self.emit(self.random.choice([f"bar.sync {self.random.randrange(16)};", f"bar.sync {self.random.randrange(16)}, 64;",
                                      f"bar.arrive {self.random.randrange(16)}, 64;", "bar.warp.sync 0xffffffff;"]))
        return value

    def switch(self, value):
        count = self.random.randint(4, 9)
        table, end, index, result = self.label(), self.label(), self.register(), self.register()
        arms = [self.label() for _ in range(count)]
        self.emit(f"mov.b32 {result}, {value}; and.b32 {index}, {value}, 15; setp.gt.u32 %p1, {index}, {count - 1}; @%p1 bra {end};")
        self.emit(f"{table}: .branchtargets {', '.join(arms)};")
        self.emit(f"brx.idx {index}, {table};")
        for arm in arms:
            self.emit(f"{arm}: {self.random.choice(OPERATIONS)} {result}, {value}, {self.random.randint(1, 99)}; bra {end};")
        self.emit(f"{end}:")
        return result

    def system_call(self, value):
        result = self.register()
        if self.random.random() < 0.5:
            self.module.declare(".extern .func (.param .b32 r) vprintf(.param .b64 a0, .param .b64 a1);")
            self.emit(f"{{ .param .b64 x; .param .b64 y; .param .b32 z; mov.u64 %d7, 0; st.param.b64 [x], %d7; st.param.b64 [y], %d7; "
                      f"call (z), vprintf, (x, y); ld.param.b32 {result}, [z]; }}")
        else:
            self.module.declare(".extern .func (.param .b64 r) malloc(.param .b64 a0);")
            self.emit(f"{{ .param .b64 x; .param .b64 z; cvt.u64.u32 %d7, {value}; st.param.b64 [x], %d7; call (z), malloc, (x); "
                      f"ld.param.b64 %d7, [z]; cvt.u32.u64 {result}, %d7; }}")
        return result

    def pressure(self, value):
        """Many values alive at once, so that register counts differ between copies."""
        count = self.random.choice([6, 12, 24, 40])
        values = []
        for index in range(count):
            values.append(self.register())
            self.emit(f"mul.hi.s32 {values[-1]}, {value}, {index * 7919 + 13}; shf.l.wrap.b32 {values[-1]}, {values[-1]}, {value}, {index % 31 + 1};")
        if self.module.random.random() < 0.5:
            self.emit("bar.warp.sync 0xffffffff;")
        result = self.register()
        self.emit(f"mov.b32 {result}, 0;")
        for index, other in enumerate(values):
            self.emit(f"mad.lo.s32 {result}, {result}, {other}, {values[(index * 5 + 3) % count]};")
        return result

    def double(self, value):
        """A double constant goes to a bank of its own on some architectures."""
        result = self.register()
        self.emit(f"{{ .reg .f64 %g<3>; cvt.rn.f64.s32 %g1, {value}; fma.rn.f64 %g2, %g1, 0d3FB99999{self.random.getrandbits(32):08X}, 0d400921FB54442D18; "
                  f"cvt.rzi.s32.f64 {result}, %g2; }}")
        return result


def write(seed, folder, arch, extra=False):
    """Writes the files of one program, with what generate_extra.py adds or without."""
    # Of its own, so that what it decides leaves the programs as they were.
    link = random.Random(f"link {seed}")
    options = ["-g"] if link.random() < 0.2 else []
    reports = random.Random(f"reports {seed}")
    options += [option for option in ("-v", "-dump-callgraph") if reports.random() < 0.4]
    (folder / "options.txt").write_text("".join(option + "\n" for option in options))
    if link.random() < 0.08:
        lines = generate_cxx.write(seed, folder)
    else:
        program = Program(seed, arch, extra)
        program.source_lines = link.random() < 0.15
        lines = []
        for module in range(program.modules):
            (folder / f"m{module}.ptx").write_text(program.text(module))
            options = program.random.choices(["", "-O0", "-O1", "--generate-line-info", "-g"], [14, 2, 1, 2, 1])[0]
            lines.append(f"m{module} {options}".rstrip())
        if program.random.random() < 0.3:
            program.random.shuffle(lines)
    (folder / "modules.txt").write_text("".join(line + "\n" for line in lines))


def serve():
    """One request a line, `SEED FOLDER ARCH`; each is answered by a line."""
    for line in sys.stdin:
        seed, folder, arch = line.split()
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        # The first programs are those of the tests without the engine.
        write(int(seed), folder, arch, extra=int(seed) >= 100 and int(seed) % 3 != 0)
        print("done", flush=True)


def main():
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        write(int(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "sm_90")


if __name__ == "__main__":
    main()
