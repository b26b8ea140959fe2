"""Programs that link through libnvJitLink, such as cuda.core and numba-cuda, link with cuweld.

    import cuweld.nvjitlink     # before anything loads NVIDIA's library
"""

import ctypes
import os
import pathlib

_NAME = "libnvJitLink.so.13"


def _loaded():
    """Returns the library of this name that the process has loaded already."""
    try:
        return ctypes.CDLL(_NAME, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return None


def _is_ours(library):
    return hasattr(library, "nvJitLinkOfCuweld")


#: Where cuweld's library is; ``LD_PRELOAD`` takes it, too.
path = str(pathlib.Path(__file__).parent / "lib" / _NAME)

#: The library that programs find loaded.
library = _loaded()

if library is None:
    library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_GLOBAL)
elif not _is_ours(library):
    raise ImportError(f"another {_NAME} is loaded already: import cuweld.nvjitlink before what loads it")
