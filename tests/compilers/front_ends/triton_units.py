"""Writes PTX of Triton to a folder for each program, without a GPU: triton_units.py FOLDER"""

import pathlib
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.language.extra.cuda import libdevice


@triton.jit
def add(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit(noinline=True)
def helper(a, b):
    return a * b + tl.sqrt(a)


@triton.jit
def calls(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i) * helper(tl.load(x), tl.load(x + 1)))


@triton.jit
def softmax(x, out, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * n + i, mask=i < n, other=-1e30)
    v = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * n + i, v / tl.sum(v, axis=0), mask=i < n)


@triton.jit
def matmul(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        left = tl.load(a + rows[:, None] * K + (k + inner)[None, :])
        sums += tl.dot(left, tl.load(b + (k + inner)[:, None] * N + columns[None, :]))
    tl.store(c + rows[:, None] * N + columns[None, :], sums)


@triton.jit
def checked(x, n):
    v = tl.load(x + tl.arange(0, 32))
    tl.device_assert(v < n, "too large")
    tl.device_print("v", v)
    tl.atomic_add(x, 1)


@triton.jit
def scan(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.cumsum(tl.sort(tl.load(x + i))))


@triton.jit
def functions(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(out + i, libdevice.lgamma(v) + libdevice.erf(v) + tl.sin(v * 1e6))


FLOATS = "*fp32"
KERNELS = [
    (add, {"x": FLOATS, "y": FLOATS, "out": FLOATS, "n": "i32"}, {"B": 256}),
    (calls, {"x": FLOATS, "out": FLOATS}, {"B": 128}),
    (softmax, {"x": FLOATS, "out": FLOATS, "n": "i32"}, {"B": 1024}),
    (matmul, {"a": "*fp16", "b": "*fp16", "c": FLOATS, "N": "i32", "K": "i32"}, {"BM": 64, "BN": 64, "BK": 32}),
    (checked, {"x": "*i32", "n": "i32"}, {}),
    (scan, {"x": FLOATS, "out": FLOATS}, {"B": 256}),
    (functions, {"x": FLOATS, "out": FLOATS}, {"B": 128}),
]

for cc in (80, 90, 100, 120):
    for debug in (False, True):
        folder = pathlib.Path(sys.argv[1]) / (f"cc{cc}-debug" if debug else f"cc{cc}")
        folder.mkdir(parents=True, exist_ok=True)
        for kernel, types, constants in KERNELS:
            signature = types | {name: "constexpr" for name in constants}
            source = ASTSource(kernel, signature, constants)
            done = triton.compile(source, target=GPUTarget("cuda", cc, 32), options={"debug": debug})
            (folder / f"{kernel.__name__}.ptx").write_text(done.asm["ptx"])
