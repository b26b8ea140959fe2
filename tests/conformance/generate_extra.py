"""What random programs for the conformance engine have beyond those of generate.py alone: textures, mbarriers, clusters, stack allocation,
managed variables, arrays of unknown size, long parameters, system functions, and whatever else ptxas writes only for a few instructions.

A step takes the body and the register that holds the value, and returns the register that holds it afterwards. All decisions are made by a random
sequence of its own, so that programs stay what they are without it.
"""


def texture(body, value):
    r, module = body.program.extra, body.module
    module.textures = True
    result, name = body.register(), f"tx{r.randrange(3)}"
    kind = r.randrange(4)
    home = r.random() < 0.7
    def declare(kind, name):
        # One definition in the module's own name, or one that several modules share.
        module.declare(f".global .{kind} {name}{module.index};" if home else f".extern .global .{kind} {name}{(module.index + 1) % 2};")
        if not home:
            module.program.wanted.setdefault((module.index + 1) % 2, []).append((kind, f"{name}{(module.index + 1) % 2}"))
        return f"{name}{module.index}" if home else f"{name}{(module.index + 1) % 2}"
    if kind == 0:
        surface = declare("surfref", "sf")
        body.emit(f"suld.b.1d.b32.trap {result}, [{surface}, {{{value}}}];")
        return result
    if kind == 1:
        tex = declare("texref", name)
        body.emit(f"txq.width.b32 {result}, [{tex}]; add.s32 {result}, {result}, {value};")
        return result
    tex, sampler = declare("texref", name), declare("samplerref", "sm")
    body.emit(f"{{ .reg .f32 %t<5>; tex.2d.v4.f32.s32 {{%t1,%t2,%t3,%t4}}, [{tex}, {sampler}, {{{value},{value}}}]; cvt.rzi.s32.f32 {result}, %t1; }}")
    return result


def mbarrier(body, value):
    if body.program.sm < 80:
        return value
    r = body.program.extra
    name = f"bar{body.label()}"
    count = r.choice([1, 1, 2, 3])
    body.code.insert(0, f"    .shared .align 8 .b64 {name}[{count}];")
    body.emit(f"mbarrier.init.shared.b64 [{name}], 4; {{ .reg .b64 %m; mbarrier.arrive.shared.b64 %m, [{name}]; cvt.u32.u64 {value}, %m; }}")
    return value


def stack(body, value):
    r = body.program.extra
    size = r.choice([16, 64, 400, 5000])
    name, result = f"frame{body.label()}", body.register()
    body.code.insert(0, f"    .local .align {r.choice([4, 8, 16])} .b8 {name}[{size}];")
    body.emit(f"{{ .reg .b64 %s<3>; mov.u64 %s1, {name}; cvt.u64.u32 %s2, {value}; and.b64 %s2, %s2, 12; add.u64 %s1, %s1, %s2; "
              f"st.local.b32 [%s1], {value}; ld.local.b32 {result}, [{name}+8]; }}")
    return result


def dynamic_stack(body, value):
    result = body.register()
    body.emit(f"{{ .reg .b64 %s<4>; cvt.u64.u32 %s1, {value}; and.b64 %s1, %s1, 240; alloca.u64 %s2, %s1, 16; "
              f"st.local.b32 [%s2], {value}; ld.local.b32 {result}, [%s2]; }}")
    return result


def managed(body, value):
    r, module = body.program.extra, body.module
    name, result = f"managed{module.index}_{r.randrange(2)}", body.register()
    module.declare(f".visible .global .attribute(.managed) .align 8 .b8 {name}[{24}]" + (" = {1,2,3};" if name[-1] == "0" else ";"))
    body.emit(f"ld.global.b32 {result}, [{name}+4]; add.s32 {result}, {result}, {value};")
    return result


def unknown_size(body, value):
    r, module = body.program.extra, body.module
    variables = [v for v in module.program.variables if v.linkage == "visible" and v.space == "global" and module.index not in v.copies]
    if not variables:
        return value
    variable, result = r.choice(variables), body.register()
    if any(f" {variable.name}[" in line for line in module.declared):
        return value
    module.declare(f".extern .global .align {variable.align} .b8 {variable.name}[];")
    body.emit(f"ld.global.b32 {result}, [{variable.name}]; add.s32 {result}, {result}, {value};")
    return result


def system_function(body, value):
    r, module, result = body.program.extra, body.module, body.register()
    kind = r.randrange(3)
    body.emit(f"mov.b32 {result}, {value};")
    if kind == 0:
        module.declare(".extern .func free(.param .b64 a0);")
        body.emit(f"{{ .param .b64 x; cvt.u64.u32 %d7, {value}; st.param.b64 [x], %d7; call free, (x); }}")
    elif kind == 1:
        module.declare(".extern .func __assertfail(.param .b64 a0, .param .b64 a1, .param .b32 a2, .param .b64 a3, .param .b64 a4);")
        body.emit(f"{{ .param .b64 x; .param .b32 y; mov.u64 %d7, 0; st.param.b64 [x], %d7; st.param.b32 [y], {value}; "
                  f"call __assertfail, (x, x, y, x, x); }}")
    else:
        module.declare(".extern .func (.param .b64 r) malloc(.param .b64 a0);")
        body.emit(f"{{ .param .b64 x; .param .b64 z; cvt.u64.u32 %d7, {value}; st.param.b64 [x], %d7; call (z), malloc, (x); "
                  f"ld.param.b64 %d7, [z]; cvt.u32.u64 {result}, %d7; }}")
    return result


def instruction(body, value):
    """Instructions of which ptxas keeps a list of places, or that call a function of its own."""
    r, result = body.program.extra, body.register()
    forms = [
        "brkpt;", "nanosleep.u32 100;", "{ .reg .pred %q; setp.eq.s32 %q, VALUE, 7; @%q exit; }", "{ .reg .pred %q; setp.eq.s32 %q, VALUE, 7; @%q trap; }",
        "{ .reg .f64 %g<3>; cvt.rn.f64.s32 %g1, VALUE; div.rn.f64 %g2, %g1, 0d4008000000000000; cvt.rzi.s32.f64 RESULT, %g2; }",
        "{ .reg .f64 %g<3>; cvt.rn.f64.s32 %g1, VALUE; sqrt.rn.f64 %g2, %g1; cvt.rzi.s32.f64 RESULT, %g2; }",
        "{ .reg .b64 %g<3>; cvt.s64.s32 %g1, VALUE; div.s64 %g2, %g1, 12345; div.s64 %g2, %g1, %g2; cvt.u32.u64 RESULT, %g2; }",
        "{ .reg .f32 %g<3>; cvt.rn.f32.s32 %g1, VALUE; div.rn.f32 %g2, 0f40400000, %g1; cvt.rzi.s32.f32 RESULT, %g2; }",
        "shfl.sync.idx.b32 RESULT, VALUE, 3, 31, 0xffffffff;", "vote.sync.ballot.b32 RESULT, 1, 0xffffffff;", "activemask.b32 RESULT;",
        "{ .reg .pred %q; setp.eq.s32 %q, VALUE, 7; @%q bar.sync 1; }", "mov.u32 RESULT, %ctaid.z;", "mov.u32 RESULT, %clock;",
        "mov.u32 RESULT, %dynamic_smem_size;", "mov.u32 RESULT, %total_smem_size;", "atom.global.add.u32 RESULT, [%d1], VALUE;",
        "bar.red.popc.u32 RESULT, 2, 64, 1;", "membar.gl;", "prefetch.global.L2 [%d1];", "red.global.add.u32 [%d1], VALUE;",
    ]
    if body.program.sm >= 80:
        forms += ["redux.sync.add.s32 RESULT, VALUE, 0xffffffff;", "cp.async.wait_all;"]
    if body.program.sm >= 90:
        forms += ["mov.u32 RESULT, %cluster_ctaid.x;", "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;", "griddepcontrol.wait;",
                  "{ .reg .pred %q; elect.sync RESULT|%q, 0xffffffff; }"]
    if body.program.arch == "sm_90a":
        forms += ["wgmma.fence.sync.aligned;", "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"]
    form = r.choice(forms)
    body.emit(f"mov.b32 {result}, {value};")
    # [%d1] is the kernel's parameter; functions have an address of their own there.
    if "[%d1]" in form:
        body.emit("mov.u64 %d1, 4096;" if body.prototype is not None else "ld.param.u64 %d1, [p];")
    body.emit(form.replace("RESULT", result).replace("VALUE", value))
    return result


STEPS = [(texture, 0.15), (mbarrier, 0.15), (stack, 0.2), (dynamic_stack, 0.06), (managed, 0.15), (unknown_size, 0.2), (system_function, 0.12),
         (instruction, 0.5), (instruction, 0.3)]


def steps(body):
    """The further steps of a body: functions from the register of a value to that of the next one."""
    r = body.program.extra
    return [lambda value, step=step: step(body, value) for step, chance in STEPS
            if body.program.extras[step.__name__] and r.random() < chance]


def kernel_head(program):
    """Directives of a kernel."""
    r = program.extra
    choices = ["", "", "", " .minnctapersm 1", " .maxntid 32, 2, 2"]
    if program.sm >= 90:
        choices += [" .explicitcluster .reqnctapercluster 2, 1, 1", " .maxclusterrank 8", " .explicitcluster"]
    return r.choice(choices)


def parameters(program):
    """Further parameters of a kernel."""
    r = program.extra
    return r.choice(["", "", ", .param .b32 q", ", .param .align 8 .b8 q[72]", ", .param .align 16 .b8 q[3000], .param .b8 s"])
