#!/usr/bin/env python3
"""Makes the input files of tests/inputs: build.py FOLDER TOOLS

FOLDER is made; TOOLS is the bin folder of NVIDIA's toolkit 13.0.88. Every file is a few KiB.
"""
import os
import pathlib
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

FOLDER = pathlib.Path(sys.argv[1]).absolute()
TOOLS = pathlib.Path(sys.argv[2]).absolute()
FOLDER.mkdir(parents=True, exist_ok=True)
os.chdir(FOLDER)
os.environ["PATH"] = f"{TOOLS}:{TOOLS.parent}/nvvm/bin:{os.environ['PATH']}"


def run(*words):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: {done.stdout}")


# nvcc takes a second for a file of a line.
POOL = ThreadPoolExecutor(os.cpu_count())
started = []


def start(*words):
    started.append(POOL.submit(run, *words))


def read(name):
    return (FOLDER / name).read_bytes()


def write(name, data):
    path = FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


# ---- programs: `a` calls `g`, which `b` defines; `c` and `d` stand alone

KERNEL = """.version 9.0
.target {target}
.address_size 64
.extern .func (.param .b32 r) g (.param .b32 x);
.visible .entry k (.param .u64 p) {{
 .reg .b32 %r<3>; .reg .b64 %p<3>;
 ld.param.u64 %p1, [p];
 ld.global.u32 %r1, [%p1];
 {{ .param .b32 q; .param .b32 s; st.param.b32 [q], %r1; call.uni (s), g, (q); ld.param.b32 %r2, [s]; }}
 st.global.u32 [%p1], %r2;
 ret;
}}
"""
FUNCTION = """.version 9.0
.target {target}
.address_size 64
.visible .func (.param .b32 r) {name} (.param .b32 x) {{
 .reg .b32 %r<3>;
 ld.param.b32 %r1, [x];
 mul.lo.s32 %r2, %r1, 3;
 st.param.b32 [r], %r2;
 ret;
}}
"""
DEEP = """.version 8.8
.target {target}
.address_size 64
.visible .func (.param .b32 r) deeper (.param .b32 x) {{
    .reg .b32 %r<4>;
    .reg .pred %p<2>;
    ld.param.b32 %r1, [x];
    st.param.b32 [r], %r1;
    setp.lt.s32 %p1, %r1, 3;
    @%p1 ret;
    sub.s32 %r2, %r1, 1;
    {{ .param .b32 y; .param .b32 s; st.param.b32 [y], %r2; call (s), deeper, (y); ld.param.b32 %r3, [s]; }}
    add.s32 %r3, %r3, %r1;
    st.param.b32 [r], %r3;
    ret;
}}
.visible .entry deep (.param .u64 p) {{
    .reg .b32 %r<2>;
    .reg .b64 %p<2>;
    ld.param.u64 %p1, [p];
    {{ .param .b32 y; .param .b32 s; st.param.b32 [y], 7; call (s), deeper, (y); ld.param.b32 %r1, [s]; }}
    st.global.u32 [%p1], %r1;
    ret;
}}
"""
ALONE = """.version 9.0
.target {target}
.address_size 64
.visible .entry {name} (.param .u64 p) {{
 .reg .b32 %r<3>; .reg .b64 %p<3>;
 ld.param.u64 %p1, [p];
 ld.global.u32 %r1, [%p1];
 add.s32 %r2, %r1, {n};
 st.global.u32 [%p1], %r2;
 ret;
}}
"""
LOW = "sm_75"
write("a.ptx", KERNEL.format(target=LOW))
write("b.ptx", FUNCTION.format(target=LOW, name="g"))
write("c.ptx", ALONE.format(target=LOW, name="kc", n=1))
write("d.ptx", ALONE.format(target=LOW, name="kd", n=2))
write("deep.ptx", DEEP.format(target=LOW))
write("high.ptx", ALONE.format(target="sm_100", name="high", n=3))
write("wrong.ptx", ALONE.format(target=LOW, name="wrong", n=3).replace("add.s32", "bogus"))
write("unversioned.ptx", "// no version\n.target sm_75\n" + " " * 64)
write("text.ptx", "hello, this is no PTX at all, but it is long enough to be looked into\n")
for name in "abcd":
    for arch in ("75", "80", "90"):
        run("ptxas", f"-arch=sm_{arch}", "-m64", "-c", f"{name}.ptx", "-o", f"{name}{arch}.cubin")
for arch in ("75", "90"):
    run("ptxas", f"-arch=sm_{arch}", "-m64", "-ewp", "a.ptx", "-o", f"ewp-a{arch}.cubin")
run("ptxas", "-arch=sm_90", "-m64", "c.ptx", "-o", "linked.cubin")
run("ptxas", "-arch=sm_90", "-m64", "-c", "deep.ptx", "-o", "deep90.cubin")

# ---- fatbins

PTX, ELF, NVVM, MERCURY = 1, 2, 8, 16
WIDE, ZLIB, LZ4, OTHER, ZSTD, OBFUSCATED, SPECIFIC, FAMILY = 1, 0x1000, 0x2000, 0x4000, 0x8000, 0x10000, 0x100000, 0x200000


def member(kind, sm, data, flags=WIDE, options=None, compressed=0, uncompressed=0, key=0, version=(0, 9)):
    head = 0x40
    tail = b""
    offset = 0
    if options is None and kind == PTX:
        options = ""
    if options is not None:
        text = options.encode() + b"\0"
        offset = head
        tail = struct.pack("<II", head + 8, len(options)) + text
        tail += b"\0" * (-len(tail) % 8)
    stored = data + b"\0" * (-len(data) % 8)
    header = struct.pack("<HHIQIIHHIIIQQQ", kind, 0x0101, head + len(tail), len(stored), compressed, offset, *version, sm, 0, 0, flags, key, uncompressed)
    return header + tail + stored


def fatbin(*members, magic=0xBA55ED50, version=1, header=16):
    body = b"".join(members)
    return struct.pack("<IHHQ", magic, version, header, len(body)) + b"\0" * (header - 16) + body


def ptx(name, sm, **more):
    return member(PTX, sm, read(f"{name}.ptx") + b"\0", **more)


def elf(name, sm, **more):
    return member(ELF, sm, read(f"{name}{sm}.cubin"), **more)


def lz4(data):
    """One LZ4 block without matches."""
    length, out = len(data), bytearray()
    out.append(0xF0 if length >= 15 else length << 4)
    if length >= 15:
        rest = length - 15
        while rest >= 255:
            out.append(255)
            rest -= 255
        out.append(rest)
    return bytes(out) + data


def packed(name, sm, flag, data, **more):
    raw = read(f"{name}{sm}.cubin")
    return member(ELF, sm, data, flags=WIDE | flag, compressed=len(data), uncompressed=more.pop("size", len(raw)), **more)


import zlib

write("a.fatbin", fatbin(ptx("a", 75)))
write("b75.fatbin", fatbin(ptx("b", 75)))
write("b.fatbin", fatbin(ptx("b", 75, options="--compile-only --maxrregcount=40 ")))
write("bogus-option.fatbin", fatbin(ptx("b", 75, options="-bogus")))
write("g.fatbin", fatbin(ptx("b", 75, options="-g --dont-merge-basicblocks --return-at-end ")))
write("both.fatbin", fatbin(elf("a", 90), ptx("a", 75)))
write("elf80.fatbin", fatbin(elf("c", 80)))
write("elf90.fatbin", fatbin(elf("c", 90)))
write("two.fatbin", fatbin(elf("c", 90)) + fatbin(elf("d", 90)))
write("magic.fatbin", fatbin(elf("c", 90), magic=0x12345678))
write("version.fatbin", fatbin(elf("c", 90), version=2))
write("header24.fatbin", fatbin(elf("c", 90), header=24))
write("nosm.fatbin", fatbin(member(ELF, 0, read("c90.cubin"))))
write("narrow.fatbin", fatbin(elf("c", 90, flags=0)))
write("notelf.fatbin", fatbin(member(ELF, 90, b"this is no ELF file" * 8)))
write("unversioned.fatbin", fatbin(member(PTX, 75, read("unversioned.ptx") + b"\0")))
write("nvvm.fatbin", fatbin(member(NVVM, 90, b"\x01\x5a\xe5\x1e" + b"\0" * 60, options="")))
write("nvvm-and-elf.fatbin", fatbin(member(NVVM, 90, b"\x01\x5a\xe5\x1e" + b"\0" * 60, options=""), elf("c", 90)))
write("mercury.fatbin", fatbin(member(MERCURY, 90, read("d90.cubin")), elf("c", 90)))
write("linked.fatbin", fatbin(member(ELF, 90, read("linked.cubin"))))
cubin = read("c90.cubin")
write("zlib.fatbin", fatbin(packed("c", 90, ZLIB, zlib.compress(cubin))))
write("lz4.fatbin", fatbin(packed("c", 90, LZ4, lz4(cubin))))
write("lz4-other.fatbin", fatbin(packed("c", 90, LZ4 | OTHER, lz4(cubin))))
write("lz4-bad.fatbin", fatbin(packed("c", 90, LZ4, b"\xff" * 40)))
write("zlib-bad.fatbin", fatbin(packed("c", 90, ZLIB, b"\xff" * 40)))
write("zstd-bad.fatbin", fatbin(packed("c", 90, ZSTD, b"\xff" * 40)))
run("fatbinary", "--create=zstd.fatbin", "-64", "--compress-all", "--image3=kind=elf,sm=90,file=c90.cubin")
data = bytearray(read("zstd.fatbin"))
struct.pack_into("<Q", data, 16 + 0x38, len(cubin) + 8)
write("zstd-size.fatbin", bytes(data))
write("empty.fatbin", fatbin())
hidden = {"flags": WIDE | OBFUSCATED, "key": 0x4339AC24}
write("obfuscated-elf.fatbin", fatbin(elf("c", 90, **hidden)))
write("obfuscated-ptx.fatbin", fatbin(ptx("a", 75), ptx("c", 90, **hidden)))

# ---- host objects


def host(name, sections, machine=62):
    """A relocatable host ELF with these sections."""
    names = b"\0"
    headers = []
    body = b""
    for section, data in [*sections, (".shstrtab", None)]:
        at = len(names)
        names += section.encode() + b"\0"
        data = names if data is None else data
        headers.append(struct.pack("<IIQQQQIIQQ", at, 3 if section == ".shstrtab" else 1, 0, 0, 64 + len(body), len(data), 0, 0, 8, 0))
        body += data + b"\0" * (-len(data) % 8)
    table = struct.pack("<IIQQQQIIQQ", *[0] * 10) + b"".join(headers)
    ident = b"\x7fELF\x02\x01\x01" + b"\0" * 9
    header = ident + struct.pack("<HHIQQQIHHHHHH", 1, machine, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, len(headers) + 1, len(headers))
    write(name, header + body + table)


SEGMENT = (".nvFatBinSegment", b"\0" * 24)
LISTS = [(f".nvHR{kind}", b"\0") for kind in ("KE", "KI", "DE", "DI", "CE", "CI")]


def unit(name, ids, *members, machine=62, lists=LISTS, junk=b""):
    sections = [SEGMENT, ("__nv_relfatbin", junk + fatbin(*members)), *lists]
    if ids is not None:
        sections.append(("__nv_module_id", ids))
    host(name, sections, machine)


unit("a.o", b"_id_a\0", elf("a", 90), elf("a", 80))
unit("b.o", b"_id_b\0", elf("b", 90), elf("b", 80))
unit("c.o", b"_id_c\0", elf("c", 90))
unit("d.o", b"_id_d\0", elf("d", 90))
unit("c-arm.o", b"_id_c\0", elf("c", 90), machine=183)
unit("c80.o", b"_id_c80\0", elf("c", 80))
unit("noid.o", None, elf("c", 90))
unit("ids-abc.o", b"a\0b\0c\0", elf("a", 90))
unit("ids-def.o", b"d\0e\0f\0\0\0", elf("b", 90))
unit("ids-ghi.o", b"g\0h\0i\0", elf("c", 90))
unit("stub.o", b"def _id_c\0def g\0", elf("d", 90))
unit("stub-mixed.o", b"def _id_c\0other\0", elf("d", 90))
unit("stub-second.o", b"other\0def _id_c\0", elf("d", 90))
unit("junk.o", b"_id_j\0", elf("c", 90), junk=b"\1" * 8)
unit("ptx.o", b"_id_p\0", ptx("c", 75))
unit("picks-c.o", b"_id_pc\0", elf("c", 90), elf("d", 80), lists=[(".nvHRKE", b"kd\0"), *LISTS[1:]])
unit("picks-d.o", b"_id_pd\0", elf("d", 90), lists=[(".nvHRKE", b"k*\0zz\0"), *LISTS[1:]])
host("plain.o", [(".text", b"\xc3" * 8)])
host("whole.o", [SEGMENT, (".nv_fatbin", fatbin(elf("c", 90)))])
host("missing.o", [SEGMENT])
host("merged.o", [SEGMENT, ("__nv_relfatbin", fatbin(elf("c", 90)) + fatbin(elf("d", 90))), *[(name, data * 2) for name, data in LISTS],
                  ("__nv_module_id", b"_id_c\0_id_d\0")])
narrow = bytearray(read("c.o"))
narrow[4] = 1
write("class32.o", bytes(narrow))
dynamic = bytearray(read("c.o"))
dynamic[16] = 3
write("dynamic.o", bytes(dynamic))
write("c.so", read("c.o"))
write("c.so.1", read("c.o"))
write("c.xyz", read("c.o"))
write("noext", read("c.o"))
write("dot.", read("c.o"))
write("d/cudadevrt.o", read("d.o"))

# ---- other files

write("empty.cubin", b"")
write("short.o", b"x" * 55)
write("text.txt", b"text " * 20)
write("text.cubin", b"text " * 20)
write("host.cubin", read("plain.o"))
write("device.o", read("c90.cubin"))
write("device.obj", read("c90.cubin"))
write("cubin.ptx", read("c90.cubin"))
write("fatbin.ptx", read("elf90.fatbin"))
write("fat.bin", read("elf90.fatbin"))
write("x.ltoir", b"\xed\x43\x4e\x7f" + b"\0" * 60)
write("x.nvvm", b"\xed\x43\x4e\x7f" + b"\0" * 60)
write("x.bc", b"BC\xc0\xde" + b"\0" * 60)
(FOLDER / "folder.o").mkdir(exist_ok=True)

# ---- headers of cubins


def changed(name, source, edits):
    data = bytearray(read(source))
    for at, value in edits:
        data[at : at + len(value)] = value
    write(name, bytes(data))


cuinfo = read("c90.cubin").index(b"NVIDIA Corp\0", read("c90.cubin").index(b"NVIDIA Corp\0") + 1)
changed("osabi.cubin", "c90.cubin", [(7, b"\x40")])
changed("abi.cubin", "c90.cubin", [(8, b"\x07")])
changed("class.cubin", "c90.cubin", [(4, b"\x01")])
changed("machine.cubin", "c90.cubin", [(18, b"\x3e\x00")])
changed("order.cubin", "c90.cubin", [(5, b"\x02")])
changed("entries.cubin", "c90.cubin", [(0x3A, b"\x20\x00")])
changed("table.cubin", "c90.cubin", [(0x28, b"\0\0\0\x40")])
write("cut.cubin", read("c90.cubin")[:-100])

# ---- archives


def archive(name, *members, options="rcsD"):
    (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
    run("ar", options, name, *members)


def archive_bytes(*members):
    """A regular archive without index; members are (name, data)."""
    out = b"!<arch>\n"
    for name, data in members:
        out += f"{name + '/':16}{0:<12}{0:<6}{0:<6}{644:<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)
    return out


long = "a_name_of_more_than_fifteen_characters.o"
write(long, read("c.o"))
archive("l/libab.a", "a.o", "b.o")
archive("l/libc.a", "c.o")
archive("l/libnoindex.a", "c.o", options="rcSD")
archive("liblong.a", long)
archive("libcd.a", "c.o", "d.o")
archive("libcudadevrt.a", "d.o")
archive("libcubin.a", "c90.cubin", "d.o")
archive("libtext.a", "text.txt", "d.o")
archive("libmixed.a", "c80.o", "plain.o", "d.o", "dynamic.o")
archive("libnoid.a", "noid.o")
archive("thin.a", "c.o", options="rcsDT")
archive("libthin.a", "c.o", options="rcsDT")
archive("libthinother.a", "c-arm.o", options="rcsDT")
(FOLDER / "sub").mkdir(exist_ok=True)
write("sub/t.o", read("d.o"))
subprocess.run(["ar", "rcsDT", "thin.a", "t.o"], cwd=FOLDER / "sub", check=True)
write("empty.a", b"!<arch>\n")
write("empty-member.a", archive_bytes(("c.o", read("c.o")), ("none.o", b""), ("d.o", read("d.o"))))
write("cut.a", archive_bytes(("c.o", read("c.o")), ("d.o", read("d.o")))[:-200])
bsd = b"#1/20           0           0     0     644     "
write("bsd.a", b"!<arch>\n" + bsd + f"{20 + len(read('c.o')):<10}`\n".encode() + b"long_bsd_name.o\0\0\0\0\0" + read("c.o"))
write("libc.copy.a", read("l/libc.a"))
os.symlink("libcd.a", "link.a")
for folder, data in (("w1", read("c-arm.o")), ("w2", b""), ("w3", b"hello"), ("w4", b"x" * 100)):
    write(f"{folder}/libc.a", archive_bytes(("c.o", data)) if folder == "w1" else data)
# Where -l looks: a slash after the magic number, which nvlink takes for the end of a name, or none.
write("w6/libc.a", b"x" * 20 + b"/" + b"x" * 20)
write("w7/libc.a", archive_bytes(("c.o", b"text")).replace(b"c.o/", b"c.o "))
write("w8/libc.a", b"x" * 20 + b"\0/" + b"x" * 20)
(FOLDER / "w5" / "libc.a").mkdir(parents=True, exist_ok=True)
write("so/libc.so", b"x" * 100)
write("so/libc.a", read("l/libc.a"))
write("two.opt", b"-arch sm_90\nc.o")

# ---- Mercury: error barriers; weak kernels of which another copy is linked, and that again


def compiled(name, target, text, *options):
    write(f"{name}.ptx", f".version 9.0\n.target {target}\n.address_size 64\n{text}")
    run("ptxas", f"-arch={target}", *([] if "-ewp" in options else ["-c"]), *options, f"{name}.ptx", "-o", f"{name}.cubin")


compiled("visible-errors", "sm_120", ".visible .func f() { ret; }\n", "-make-errors-visible-at-exit")
compiled("hidden-errors", "sm_120", ".visible .entry k(.param .u64 p) { .reg .u64 %r; ld.param.u64 %r, [p]; st.u32 [%r], 1; ret; }\n")
SWITCH = """.weak .entry k(.param .u64 p) {{
 .reg .u32 %a, %i, %b<100>; .reg .u64 %s; ld.param.u64 %s, [p]; mov.u32 %a, %tid.x;
 T: .branchtargets L0, L1, L2, L3; rem.u32 %i, %a, 4; {more} brx.idx %i, T;
 L0: st.volatile.u32 [%s], 7; bra E; L1: st.volatile.u32 [%s+4], %a; bra E; L2: st.volatile.u32 [%s+8], %a; bra E; L3: st.volatile.u32 [%s+12], %i;
 E: ret;
}}
"""
loads = "".join(f"ld.volatile.u32 %b{n}, [%s+{4 * n}]; " for n in range(60)) + "".join(f"add.u32 %a, %a, %b{n}; " for n in range(60))
compiled("switch-small", "sm_110", SWITCH.format(more="st.volatile.u32 [%s+32], %i;"))
compiled("switch-large", "sm_110", SWITCH.format(more=loads), "-g")
run("nvlink", "-arch=sm_110", "-r", "switch-large.cubin", "switch-small.cubin", "-o", "switch-again.cubin")
PLAIN = ".weak .entry k(.param .u64 p) {{ .reg .u32 %a, %b<100>; .reg .u64 %s; ld.param.u64 %s, [p]; mov.u32 %a, %tid.x; {more} st.u32 [%s], %a; ret; }}\n"
compiled("ranges-large", "sm_100", PLAIN.format(more=loads), "-g")
compiled("ranges-small", "sm_100", PLAIN.format(more=""))
run("nvlink", "-arch=sm_100", "-r", "ranges-large.cubin", "ranges-small.cubin", "-o", "ranges-again.cubin")

# A discarded copy of a kernel makes its section of constants, those of the taken copy lie in another, those of what it calls in the first.
CONSTANT = "ld.volatile.f64 %d, [%s]; fma.rn.f64 %d, %d, %d, {value}; st.volatile.f64 [%s], %d;"
CALLER = """.{binding} .func g(.param .u64 p){body}
.weak .entry k(.param .u64 p) {{ .reg .u32 %a, %b<100>; .reg .u64 %s; .reg .f64 %d; ld.param.u64 %s, [p]; mov.u32 %a, %tid.x; {more}
 st.u32 [%s], %a; {{ .param .u64 q; st.param.u64 [q], %s; call g, (q); }} ret; }}
"""
called = " {{ .reg .u64 %s; .reg .f64 %d; ld.param.u64 %s, [p]; {0} ret; }}".format(CONSTANT.format(value="0d3FF1234567890001"))
stores = "".join(f"st.volatile.u32 [%s+{4 * n}], %b{n}; " for n in range(60))
made, taken = CONSTANT.format(value="0d3FF1234567890002"), CONSTANT.format(value="0d3FF1234567890003")
compiled("split-first", "sm_80", CALLER.format(binding="visible", body=called, more=loads))
compiled("split-made", "sm_80", CALLER.format(binding="extern", body=";", more=loads + stores + made))
compiled("split-taken", "sm_80", CALLER.format(binding="extern", body=";", more=taken))

# Textures that are parameters of kernels: of one name in two objects, and of a kernel of which another object has a copy.
TEXTURE = """.{binding} .entry {kernel}(.param .u64 p, .param .texref image) {{ .reg .u32 %a; .reg .f32 %f<4>; .reg .u64 %s; ld.param.u64 %s, [p]; mov.u32 %a, %tid.x;
 tex.1d.v4.f32.s32 {{%f0, %f1, %f2, %f3}}, [image, {{%a}}]; st.f32 [%s], %f0; ret; }}
"""
compiled("image-first", "sm_80", TEXTURE.format(binding="visible", kernel="k"))
compiled("image-second", "sm_80", TEXTURE.format(binding="visible", kernel="l"))
compiled("image-copy", "sm_80", TEXTURE.format(binding="weak", kernel="c"))
compiled("image-none", "sm_80", ".weak .entry c(.param .u64 p) { .reg .u64 %s; ld.param.u64 %s, [p]; st.u32 [%s], 1; ret; }\n")

# Shared memory that no kernel of an object of -ewp uses.
compiled("whole-dynamic", "sm_80", ".extern .shared .align 16 .u32 z[];\n.visible .func f(.param .u64 o) { .reg .u32 %a; .reg .u64 %p; ld.param.u64 %p, [o]; ld.shared.u32 %a, [z+4]; st.u32 [%p], %a; ret; }\n", "-ewp")
# Copies of a kernel with shared memory, one of them of an object of -ewp.
SHARED = ".shared .align 16 .b32 z[8];\n.weak .entry k(.param .u64 o) {{ .reg .u32 %a; .reg .u64 %p; ld.param.u64 %p, [o]; ld.shared.u32 %a, [z+{at}]; st.u32 [%p], %a; ret; }}\n"
compiled("whole-copy", "sm_80", SHARED.format(at=4), "-ewp")
compiled("whole-other", "sm_80", SHARED.format(at=8))

# ---- link-time optimisation

write("la.cu", "__device__ int g(int); __device__ int seen; __global__ void ka(int* p) { *p = g(*p); seen = 1; }\n"
      "__global__ void unused_kernel(int* p) { *p = 5; }\nvoid run(int* p) { ka<<<1, 1>>>(p); }\n")
write("lb.cu", "__device__ int g(int x) { return x * 3; }\n")
write("lv.cu", "__device__ int v; __global__ void kv(int* p) { *p = v; }\n"
      "void run_v(int* p) { kv<<<1, 1>>>(p); cudaMemcpyToSymbol(v, &p, 4); }\n")
write("prints.cu", "#include <stdio.h>\n#include <assert.h>\nextern __shared__ int shared[];\n"
      "__global__ void kp(int* p) { printf(\"%d\", *p); int* q = (int*)malloc(4); assert(q); *p = *q + shared[*p]; free(q); }\n"
      "void run_kp(int* p) { kp<<<1, 1>>>(p); }\n")
write("wants.cu", "extern __device__ int gone; __global__ void kw(int* p) { *p = gone; }\nvoid run_kw(int* p) { kw<<<1, 1>>>(p); }\n")
write("sets.cu", "__constant__ int a[10] = {1}; __constant__ double b[5] = {2};\n__global__ void ks(int* p) { cudaMemsetAsync(p, 1, 40, 0); *p = a[*p] + b[1]; }\n"
      "void run_ks(int* p) { ks<<<1, 1>>>(p); }\n")
write("sets-none.cu", "__global__ void ks(int* p) { cudaMemsetAsync(p, 1, 40, 0); }\nvoid run_ks(int* p) { ks<<<1, 1>>>(p); }\n")
for name in ("prints", "wants", "sets", "sets-none"):
    start("nvcc", "-rdc=true", "-arch=sm_90", "-c", f"{name}.cu", "-o", f"{name}.o")
write("lf.cu", "__device__ float gf(float, float); __constant__ float tab[4] = {1, 2, 3, 4}; __device__ int dv[4]; __managed__ int mm;\n"
      "template <class T> __device__ T tt(T a) { return a * a + T(1) / a; }\n"
      "__global__ void kf(float* p) { p[0] = gf(p[0], p[1]) / p[2] + sqrtf(p[3]) + tab[(int)p[4] & 3] + mm; p[1] = tt(p[1]); }\n"
      "static __global__ void ks(float* p) { *p = __expf(*p) + dv[0]; }\n"
      "void run_f(float* p) { kf<<<1, 1>>>(p); ks<<<1, 1>>>(p); cudaMemcpyToSymbol(tab, p, 4); }\n")
write("lg.cu", "__device__ float gf(float x, float y) { return x / y + sinf(x); }\n"
      "template <class T> __device__ T tt(T a) { return a * a + T(1) / a; }\n__global__ void kg(float* p) { p[1] = tt(p[1]); }\n")
write("lp.cu", "__global__ void child(int* p) { *p += 1; }\n__global__ void parent(int* p) { child<<<1, 1>>>(p); }\n"
      "void run_p(int* p) { parent<<<1, 1>>>(p); }\n")
write("sf.cu", "extern __device__ int dv[4]; __device__ float gf(float, float); __global__ void kt(float* p) { *p = gf(*p, dv[2]); }\n"
      "void run_t(float* p) { kt<<<1, 1>>>(p); }\n")
write("lr.cu", "__device__ int g(int); __global__ void kr(int* p) { *p = g(cudaGetLastError()); }\nvoid run_r(int* p) { kr<<<1, 1>>>(p); }\n")
write("lk.cu", "static __attribute__((used)) __device__ __noinline__ int fu(int x) { return x * 5; }\n"
      "__global__ void ku(int* p) { *p = fu(*p); }\nvoid run_u(int* p) { ku<<<1, 1>>>(p); }\n")
for name in ("la", "lb", "lv", "lf", "lg", "lp", "lr", "lk"):
    start("nvcc", "-dlto", "-rdc=true", "-arch=sm_90", "-c", f"{name}.cu", "-o", f"{name}.o")
start("nvcc", "-dlto", "-rdc=true", "-arch=sm_90", "-ltoir", "la.cu", "-o", "la.ltoir")
start("nvcc", "-dlto", "-rdc=true", "-arch=sm_90", "-fatbin", "lb.cu", "-o", "lb.fatbin")
start("nvcc", "-dlto", "-rdc=true", "-arch=sm_90", "-use_fast_math", "-c", "lg.cu", "-o", "lq.o")
write("lt.cu", "__device__ int gone(int); __device__ int (*taken)(int) = gone; __global__ void kt(int* p) { *p = taken(*p); }\n")
write("lu.cu", "extern __device__ int gone; __device__ int g(int x) { return x + gone; }\n")
for name in ("lt", "lu"):
    start("nvcc", "-dlto", "-rdc=true", "-arch=sm_90", "-c", f"{name}.cu", "-o", f"{name}.o")
for name, source, option in (("lf32", "lf", "-maxrregcount=32"), ("lg32", "lg", "-maxrregcount=32"), ("lg40", "lg", "-maxrregcount=40"),
                             ("lf-lines", "lf", "-lineinfo"), ("lf-split2", "lf", "-split-compile=2"), ("lg-split3", "lg", "-split-compile=3")):
    start("nvcc", "-dlto", "-rdc=true", "-arch=sm_90", option, "-c", f"{source}.cu", "-o", f"{name}.o")
for name, source in (("la-specific", "la"), ("lb-specific", "lb")):
    start("nvcc", "-rdc=true", "-gencode=arch=compute_90a,code=[sm_90a,lto_90a]", "-c", f"{source}.cu", "-o", f"{name}.o")
for name in ("lb", "lr"):
    start("nvcc", "-rdc=true", "-gencode=arch=compute_87,code=lto_87", "-c", f"{name}.cu", "-o", f"{name}87.o")
for name in ("la", "lb"):
    start("nvcc", "-rdc=true", "-arch=sm_87", "-c", f"{name}.cu", "-o", f"s{name}87.o")
start("nvcc", "-rdc=true", "-gencode=arch=compute_75,code=sm_75", "-c", "lv.cu", "-o", "slv75.o")
write("lonly.cu", "void host_only() {}\n")
write("lwhich.cu", "#if defined(__CUDA_ARCH_SPECIFIC__)\n#define WHICH 3\n#elif defined(__CUDA_ARCH_FAMILY_SPECIFIC__)\n#define WHICH 2\n#else\n"
      "#define WHICH 1\n#endif\n__global__ void kw(int* p) { *p = WHICH; }\n")
start("nvcc", "-dlto", "-rdc=true", "-arch=sm_90", "-c", "lonly.cu", "-o", "lonly.o")
for name, kinds in (("lto90a", "lto_90a"), ("lto90-90a", "lto_90 lto_90a"), ("lto90a-80", "lto_90a lto_80"), ("lto100f-100a", "lto_100f lto_100a"),
                    ("lto100-100f", "lto_100 lto_100f"), ("elf90a", "sm_90a"), ("elf90a-ptx80", "sm_90a compute_80"), ("elf90-90a", "sm_90 sm_90a")):
    codes = [f"-gencode=arch=compute_{kind.partition('_')[2]},code={kind}" for kind in kinds.split()]
    start("nvcc", "-rdc=true", *codes, "-c", "lwhich.cu", "-o", f"{name}.o")
start("nvcc", "-dlto", "-rdc=true", "-arch=sm_90", "-fatbin", "lv.cu", "-o", "lv.fatbin")
start("nvcc", "-rdc=true", "-arch=sm_90", "-fatbin", "lv.cu", "-o", "s90.fatbin")
write("ldata.cu", "__device__ int value = 3;\n")
start("nvcc", "-dlto", "-rdc=true", "-arch=sm_90", "-fatbin", "ldata.cu", "-o", "ldata.fatbin")
start("nvcc", "-rdc=true", "-arch=sm_90", "-c", "sf.cu", "-o", "sf.o")
start("nvcc", "-rdc=true", "-arch=sm_90", "-c", "lb.cu", "-o", "slb.o")
for one in started:
    one.result()
for folder in ("nvvm/lib64", "lib"):
    (FOLDER / folder).mkdir(parents=True, exist_ok=True)
libraries = TOOLS.parent / "lib"
os.symlink(libraries / "libnvvm.so.4", FOLDER / "nvvm/lib64/libnvvm.so")
os.symlink(libraries / "libnvJitLink.so.13", FOLDER / "lib/libnvJitLink.so.13")
os.symlink(libraries / "libcudadevrt.a", FOLDER / "lib/libcudadevrt.a")

# ---- one member for each architecture: table/ARCH.cubin, .ptx, -elf.fatbin, -ptx.fatbin; -bare.fatbin without the copy of .nv.compat,
# -mercury.fatbin of kind 16

ARCHITECTURES = ("75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 110 110a 110f 120 120a 120f 121 121a 121f").split()
(FOLDER / "table").mkdir(exist_ok=True)
running = []
for arch in ARCHITECTURES:
    write(f"table/{arch}.ptx", ALONE.format(target=f"sm_{arch}", name="kt", n=9))
    running.append(subprocess.Popen(["ptxas", f"-arch=sm_{arch}", "-m64", "-c", f"table/{arch}.ptx", "-o", f"table/{arch}.cubin"]))
if any(process.wait() for process in running):
    sys.exit("ptxas fails for the table")
for arch in ARCHITECTURES:
    suffix = {"a": SPECIFIC, "f": FAMILY}.get(arch[-1], 0)
    sm = int(arch.rstrip("af"))
    image = f"--image3=kind=elf,sm={arch},file=table/{arch}.cubin"
    run("fatbinary", f"--create=table/{arch}-elf.fatbin", "-64", image)
    cubin = read(f"table/{arch}.cubin")
    write(f"table/{arch}-bare.fatbin", fatbin(member(ELF, sm, cubin, flags=WIDE | suffix)))
    mercury = bytearray(read(f"table/{arch}-elf.fatbin"))
    struct.pack_into("<H", mercury, 16, MERCURY)
    write(f"table/{arch}-mercury.fatbin", bytes(mercury))
    write(f"table/{arch}-ptx.fatbin", fatbin(member(PTX, sm, read(f"table/{arch}.ptx") + b"\0", flags=WIDE | suffix)))

# ---- cubins with changed fields

sys.dont_write_bytecode = True
import objects

objects.write(FOLDER)
