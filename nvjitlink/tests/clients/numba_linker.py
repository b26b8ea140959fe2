"""Links through numba-cuda's linker; a line for each. Needs no GPU."""
import hashlib

from numba.cuda.cudadrv import driver

LINKS = {
    "cubin": [("add_cubin", "a.90.cubin"), ("add_cubin", "b.90.cubin")],
    "ptx": [("add_ptx", "a.ptx"), ("add_ptx", "b.ptx")],
    "object": [("add_object", "a.90.o"), ("add_object", "b.90.o")],
    "fatbin": [("add_fatbin", "a.90.fatbin"), ("add_fatbin", "b.90.fatbin")],
    "library": [("add_library", "libab.a")],
    "ptx and cubin": [("add_ptx", "a.ptx"), ("add_cubin", "b.90.cubin")],
    "ltoir": [("add_ltoir", "a.ltoir"), ("add_ltoir", "b.ltoir")],
}

for tag, inputs in LINKS.items():
    linker = driver._Linker(max_registers=0, cc=(9, 0), lto=tag == "ltoir")
    for method, name in inputs:
        with open(name, "rb") as file:
            getattr(linker, method)(file.read(), name)
    code = linker.complete().code
    print(tag, len(code), hashlib.sha256(code).hexdigest()[:16], linker.info_log, linker.error_log)
