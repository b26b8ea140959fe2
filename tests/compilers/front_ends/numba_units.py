"""Writes PTX of numba-cuda to a folder for each program, without a GPU: numba_units.py FOLDER"""

import math
import pathlib
import sys

import numba.cuda.dispatcher
import numpy as np
from numba import complex64, cuda, float32, float64, int32, types


class Device:
    """The GPU that numba asks for where one function calls another."""

    compute_capability = (7, 5)


numba.cuda.dispatcher.get_current_device = lambda: Device
scale = cuda.declare_device("scale", float64(float64, int32))
TABLE = np.arange(16, dtype=np.float32)


@cuda.jit(device=True)
def inner(a, b):
    return a * a + math.sin(b)


@cuda.jit(device=True)
def poly(x, n):
    s = 0.0
    for i in range(n):
        s = s * x + i
    return s


def scale_of_c(a, i):
    return a * i + math.exp(a)


def caller(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = scale(inner(x[i], y[i]), i)


def reduction(x, out):
    rows = cuda.shared.array(256, float64)
    i = cuda.threadIdx.x
    rows[i] = x[cuda.grid(1)]
    cuda.syncthreads()
    n = 128
    while n > 0:
        if i < n:
            rows[i] += rows[i + n]
        cuda.syncthreads()
        n //= 2
    if i == 0:
        cuda.atomic.add(out, 0, rows[0])


def dynamic(x):
    rows = cuda.shared.array(0, float32)
    rows[cuda.threadIdx.x] = x[0]
    cuda.syncthreads()
    x[1] = rows[3]


def constants(out):
    table = cuda.const.array_like(TABLE)
    out[cuda.threadIdx.x] = table[cuda.threadIdx.x % 16]


def checked(x, out, i):
    if i > 5:
        raise ValueError("bad index")
    out[0] = x[i] // x[i + 1]


def printing(n):
    print("value", n, n * 2.5)


def local_array(out, k):
    rows = cuda.local.array(64, int32)
    for i in range(64):
        rows[i] = i * k
    out[0] = rows[k % 64]


def shuffles(out):
    v = cuda.shfl_down_sync(0xFFFFFFFF, out[cuda.threadIdx.x], 1)
    out[cuda.threadIdx.x] = v + cuda.ballot_sync(0xFFFFFFFF, v > 0)


def complex_numbers(a, out):
    out[0] = a[0] * a[1] / a[2]


def tuples(out, x):
    s = 0.0
    for v in (x[0], x[1], float32(3)):
        s += v**2.5
    out[0] = s + poly(s, 7) + math.erf(s) + math.lgamma(s)


KERNELS = {
    caller: (float64[:], float64[:]),
    reduction: (float64[:], float64[:]),
    dynamic: (float32[:],),
    constants: (float32[:],),
    checked: (int32[:], int32[:], int32),
    printing: (int32,),
    local_array: (int32[:], int32),
    shuffles: (int32[:],),
    complex_numbers: (complex64[:], complex64[:]),
    tuples: (float64[:], float32[:]),
}


def write(folder, name, function, signature, **options):
    units, _ = cuda.compile_all(function, signature, cc=Device.compute_capability, output="ptx", **options)
    for i, unit in enumerate(units if isinstance(units, (list, tuple)) else [units]):
        text = unit if isinstance(unit, str) else unit.decode()
        (folder / f"{name}-{i}.ptx").write_text(text)


def main():
    programs = {
        "optimised": {},
        "debug": {"debug": True, "opt": False},
        "lines": {"lineinfo": True},
        "plain": {"opt": False},
    }
    for program, options in programs.items():
        folder = pathlib.Path(sys.argv[1]) / program
        folder.mkdir(parents=True, exist_ok=True)
        info = {"abi_name": "scale"}
        write(folder, "scale", scale_of_c, float64(float64, int32), device=True, abi="c", abi_info=info, **options)
        for kernel, parameters in KERNELS.items():
            write(folder, kernel.__name__, kernel, types.void(*parameters), device=False, abi="numba", **options)


main()
