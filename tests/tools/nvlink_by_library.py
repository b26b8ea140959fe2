#!/usr/bin/env python3
"""Links as nvlink of CUDA 12 does, by libnvJitLink.so.12.

    nvlink -arch=sm_90 [-r] [-g] [OPTION...] INPUT... -o OUTPUT

PyPI has no nvlink of CUDA 12. tests/tools/toolkit puts this program in its place, beside that release's ptxas. It exits
with 97, and says why, where the library takes no such option or input.
"""
import ctypes
import os
import sys
import tempfile

CUBIN, PTX, FATBIN, OBJECT, LIBRARY = 1, 2, 4, 5, 6
# Options that change what nvlink says alone.
OF_MESSAGES = {"-w", "-v", "-disable-infos", "-extrawarn", "-suppress-stack-size-warning", "-report-arch",
               "-ignore-host-info", "-m64", "-dump-callgraph", "-dump-callgraph-no-demangle", "-keep-system-libraries", "--cpu-arch=X86_64", "-cpu-arch=X86_64"}
# Options that both take.
OF_BOTH = ("-arch=", "-maxrregcount=", "-kernels-used=", "-variables-used=")


def not_taken(why):
    sys.stderr.write(f"libnvJitLink: {why}\n")
    sys.exit(97)


def library():
    folder = os.path.dirname(os.path.realpath(__file__))
    return ctypes.CDLL(os.path.join(folder, "../../nvjitlink/lib/libnvJitLink.so.12"))


def kind(path, data):
    if data[:4] == b"\x7fELF":
        return CUBIN if data[18:20] == b"\xbe\x00" else OBJECT
    if data[:8] == b"!<arch>\n":
        return LIBRARY
    if data[:4] == b"\x50\xed\x55\xba":
        return FATBIN
    if path.endswith(".ptx"):
        return PTX
    not_taken(f"{path} is of no kind that is known here")


def arguments(words):
    options, inputs, output = [], [], "a.out"
    words = iter(words)
    for word in words:
        if word == "-o":
            output = next(words)
        elif word in ("-arch", "--arch"):
            options.append("-arch=" + next(words))
        elif word == "-g" or word.startswith(OF_BOTH):
            options.append(word)
        elif word in OF_MESSAGES:
            pass
        elif word.startswith("-"):
            not_taken(f"{word} is not known")
        else:
            inputs.append(word)
    return options, inputs, output


def main():
    options, inputs, output = arguments(sys.argv[1:])
    lib = library()
    handle = ctypes.c_void_p()
    words = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])

    def text(which):
        size = ctypes.c_size_t()
        getattr(lib, f"nvJitLinkGet{which}LogSize")(handle, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value + 1)
        getattr(lib, f"nvJitLinkGet{which}Log")(handle, buffer)
        return buffer.value.decode(errors="surrogateescape")

    def failed(lines=()):
        lines = list(lines) + [line for line in text("Error").splitlines() if line and not line.startswith("ERROR")]
        for line in lines:
            sys.stderr.write(f"nvlink {line}\n")
        if not lines:
            not_taken(text("Error").strip())
        sys.exit(255)

    if lib.nvJitLinkCreate(ctypes.byref(handle), ctypes.c_uint32(len(options)), words):
        not_taken(text("Error").strip())
    # The library keeps pointers to names, and says some findings on stderr alone.
    names = [path.encode() for path in inputs]
    with tempfile.TemporaryFile() as said:
        stderr = os.dup(2)
        os.dup2(said.fileno(), 2)
        failing = False
        for path, name in zip(inputs, names):
            with open(path, "rb") as file:
                data = file.read()
            taken = kind(path, data)
            failing = lib.nvJitLinkAddData(handle, ctypes.c_int(taken), data, ctypes.c_size_t(len(data)), name)
            if failing:
                break
        failing = failing or lib.nvJitLinkComplete(handle)
        os.dup2(stderr, 2)
        said.seek(0)
        said = said.read().decode(errors="surrogateescape").splitlines()
    if failing or any(line.startswith("error") for line in said):
        failed(said)
    size = ctypes.c_size_t()
    if lib.nvJitLinkGetLinkedCubinSize(handle, ctypes.byref(size)):
        failed()
    cubin = ctypes.create_string_buffer(size.value)
    lib.nvJitLinkGetLinkedCubin(handle, cubin)
    with open(output, "wb") as file:
        file.write(cubin.raw)


main()
