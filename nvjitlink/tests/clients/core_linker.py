"""Links through cuda.core, as programs do; a line for each. Needs no GPU."""
import hashlib
import re

from cuda.bindings import nvjitlink
from cuda.core import Linker, LinkerOptions, ObjectCode

print("version", nvjitlink.version()[0])


def read(name):
    with open(name, "rb") as file:
        return file.read()


def link(tag, objects, **options):
    try:
        linker = Linker(*objects, options=LinkerOptions(**options))
        code = linker.link("ptx" if options.get("ptx") else "cubin").code
        logs = [linker.get_info_log(), linker.get_error_log()]
        said = [len(code), hashlib.sha256(code).hexdigest()[:16], *logs]
    except Exception as error:
        said = [type(error).__name__, str(error)]
    print(tag, re.sub(r"\d+\.\d{6}", "TIME", repr(said)))


def both(make, end):
    return [make(read(name + end), name=name) for name in "ab"]


for sm in ("80", "90", "100", "120"):
    link("cubin sm_" + sm, both(ObjectCode.from_cubin, f".{sm}.cubin"), arch="sm_" + sm)
cubins = both(ObjectCode.from_cubin, ".90.cubin")
link("ptx", both(ObjectCode.from_ptx, ".ptx"), arch="sm_90")
link("fatbin", both(ObjectCode.from_fatbin, ".90.fatbin"), arch="sm_90")
link("object", both(ObjectCode.from_object, ".90.o"), arch="sm_90")
link("library", [ObjectCode.from_library(read("libab.a"), name="libab.a")], arch="sm_90")
link("files", [ObjectCode.from_cubin(name + ".90.cubin", name=name) for name in "ab"], arch="sm_90")
link(
    "all options",
    cubins,
    arch="sm_90",
    max_register_count=64,
    time=True,
    verbose=True,
    optimization_level=3,
    lineinfo=True,
    ftz=True,
    prec_div=False,
    prec_sqrt=True,
    fma=True,
    kernels_used=["k2"],
    variables_used=["total"],
    optimize_unused_variables=True,
    ptxas_options=["-v"],
    split_compile=1,
    no_cache=True,
)
link("debug", cubins, arch="sm_90", debug=True)
link("lto", both(ObjectCode.from_ltoir, ".ltoir"), arch="sm_90", link_time_optimization=True)
link("lto to ptx", both(ObjectCode.from_ltoir, ".ltoir"), arch="sm_90", link_time_optimization=True, ptx=True)
link("undefined", cubins[:1], arch="sm_90")
link("other target", both(ObjectCode.from_cubin, ".80.cubin"), arch="sm_90")
