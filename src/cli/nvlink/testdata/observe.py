#!/usr/bin/env python3
"""Observes what nvlink makes of command lines and writes observed.json.

Needs nvlink and ptxas 13.0.88 on PATH. Every line of cases.txt is a command line in shell quoting;
`# ` begins a comment. Inputs m1.cubin and m2.cubin are made here, and so are the options files below.
"""
import json
import os
import shlex
import struct
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

PTX = """.version 9.0
.target sm_90
.address_size 64
.visible .entry NAME() { ret; }
"""

FILES = {
    "two.opt": "-w -extrawarn",
    "self.opt": "-optf self.opt",
    "nested.opt": "-optf two.opt -g",
    "input.opt": '-maxrregcount=16 "m2.cubin"',
    "bogus.opt": "-bogus",
    "open.opt": "-o",
    "empty.opt": "",
    "stray.opt": '-bogus -L "x',
    "backslash.opt": "-L a\\",
    "quotes.opt": '-L a"b c"d -L "x"y -L "e\\"f" -L "g\\h" -L a\\\\b -L c\\nd',
    "escapes.opt": '-L "a\\\\b" -L "c\\,d" -L \\"x\\" -l "a,b" -l a\\,b',
    "kept.opt": r'''-nvvmpath a\\\"b -tool-name "\" x" --host-ccbin "a\\"''',
    "blanks.opt": "\n\t-extrawarn\r\n-r\r",
    "newline.opt": '-L "a\nb" -L c\\\nd',
    "nul.opt": "-extrawarn\0-r",
    "assign.opt": '-L="" "-extrawarn"',
    "a,b.opt": "-extrawarn",
    **{f"n{n}.opt": f"-optf n{n + 1}.opt" for n in range(1, 17)},
    "n17.opt": "-extrawarn",
}


def tool_info(path):
    """Object name, tool and options of the first record in .note.nv.tkinfo."""
    data = open(path, "rb").read()
    table = struct.unpack_from("<Q", data, 0x28)[0]
    count, names = struct.unpack_from("<HH", data, 0x3C)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * n) for n in range(count)]
    strings = headers[names][4]
    for header in headers:
        start = strings + header[0]
        if data[start : data.index(b"\0", start)] == b".note.nv.tkinfo":
            note = data[header[4] : header[4] + header[5]]
            size = struct.unpack_from("<I", note, 4)[0]
            desc = note[24 : 24 + size]
            offsets = struct.unpack_from("<6I", desc)[1:]
            area = desc[24:]
            texts = [area[o : area.index(b"\0", o)].decode() for o in offsets]
            return texts[0], texts[1], texts[4]
    raise ValueError(f"no record in {path}")


def observe(arguments):
    if os.path.exists("o.cubin"):
        os.remove("o.cubin")
    run = subprocess.run(["nvlink", *arguments], capture_output=True, text=True, timeout=60)
    case = {"arguments": arguments, "exit": run.returncode, "stderr": run.stderr.splitlines()}
    if run.returncode == 0 and os.path.exists("o.cubin"):
        case["object"], case["tool"], case["options"] = tool_info("o.cubin")
    return case


def main():
    with open(os.path.join(HERE, "cases.txt")) as lines:
        commands = [line.rstrip("\n") for line in lines if line.strip() and not line.startswith("# ")]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in ("m1", "m2"):
            with open(name + ".ptx", "w") as text:
                text.write(PTX.replace("NAME", name))
            subprocess.run(
                ["ptxas", "-arch=sm_90", "-m64", "-c", name + ".ptx", "-o", name + ".cubin"], check=True
            )
        os.mkdir("d")
        os.rename("m2.cubin", "d/m2.cubin")
        os.symlink("d/m2.cubin", "m2.cubin")
        for name, text in FILES.items():
            with open(name, "w", newline="") as file:
                file.write(text)
        cases = [observe(shlex.split(command)) for command in commands]
        os.chdir(HERE)
    lines = ",\n".join("    " + json.dumps(case) for case in cases)
    files = ",\n".join(f"    {json.dumps(name)}: {json.dumps(text)}" for name, text in FILES.items())
    with open(os.path.join(HERE, "observed.json"), "w") as out:
        out.write('{\n  "files": {\n' + files + '\n  },\n  "cases": [\n' + lines + "\n  ]\n}\n")
    print(f"{len(cases)} cases")


main()
