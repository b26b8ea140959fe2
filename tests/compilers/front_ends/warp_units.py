"""Writes PTX of NVIDIA Warp to a folder for each program, without a GPU: warp_units.py FOLDER"""

import pathlib
import sys

import warp as wp

wp.config.quiet = True
wp.init()


@wp.struct
class Particle:
    x: wp.vec3
    v: wp.vec3
    mass: float


@wp.func
def force(a: wp.vec3, b: wp.vec3):
    d = b - a
    return d / (wp.length(d) + 1e-3)


@wp.func
def fibonacci(n: int):
    a = int(0)
    b = int(1)
    for i in range(n):
        t = a + b
        a = b
        b = t
    return a


TURN = wp.constant(wp.mat33(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0))


@wp.kernel
def axpy(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.kernel
def step(p: wp.array(dtype=Particle), dt: float):
    i = wp.tid()
    q = p[i]
    q.v = q.v + force(q.x, p[0].x) * dt
    q.x = TURN * q.x
    p[i] = q


@wp.kernel
def noise(out: wp.array(dtype=float), seed: int):
    i = wp.tid()
    state = wp.rand_init(seed, i)
    out[i] = wp.noise(state, wp.vec3(wp.randf(state), wp.randn(state), 1.0))


@wp.kernel
def printing(out: wp.array(dtype=int)):
    i = wp.tid()
    wp.printf("%d %d\n", i, fibonacci(out[i]))
    assert out[i] > 0


@wp.kernel
def neighbours(grid: wp.uint64, x: wp.array(dtype=wp.vec3), out: wp.array(dtype=int)):
    i = wp.tid()
    n = int(0)
    for j in wp.hash_grid_query(grid, x[i], 0.5):
        n += 1
    out[i] = n


@wp.kernel
def nearest(mesh: wp.uint64, x: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    i = wp.tid()
    found = wp.mesh_query_point(mesh, x[i], 10.0)
    out[i] = found.u


@wp.kernel
def tiles(a: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    row = wp.tile_load(a[i], shape=128)
    wp.tile_store(out, wp.tile_sum(row), offset=i)


module = wp.get_module(__name__)
for arch in (75, 80, 90):
    for mode in ("release", "debug"):
        module.options["mode"] = mode
        module.options["lineinfo"] = mode == "release" and arch == 80
        module.options["enable_backward"] = arch != 80
        folder = pathlib.Path(sys.argv[1]) / f"sm_{arch}-{mode}"
        folder.mkdir(parents=True, exist_ok=True)
        wp.compile_aot_module(module, device=None, arch=arch, module_dir=str(folder), use_ptx=True)
        # The CUDA C++ between, which needs Warp's headers.
        for file in folder.iterdir():
            if file.suffix != ".ptx":
                file.unlink()
            else:
                # The hash in the name is long, and is that of this file.
                file.rename(folder / "units.ptx")
