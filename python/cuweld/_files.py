"""What is in files: what `cuweld inspect`, `diff`, `size` and `disasm` write as JSON, as dictionaries and lists."""

import json
import os

from . import _cuweld


def file_of(item, name="<memory>"):
    """Return name and bytes of an input: bytes, a path, or a tuple of a name and bytes."""
    if isinstance(item, tuple):
        return os.fsencode(item[0]), bytes(item[1])
    if isinstance(item, (str, os.PathLike)):
        with open(item, "rb") as file:
            return os.fsencode(item), file.read()
    return os.fsencode(name), bytes(item)


_BYTES = (bytes, bytearray, memoryview)


def is_one(items):
    """Return whether what is given is one input and not several."""
    if isinstance(items, tuple):
        return len(items) == 2 and isinstance(items[1], _BYTES) and not isinstance(items[0], _BYTES)
    return isinstance(items, (str, os.PathLike, *_BYTES))


def files_of(items):
    """Return name and bytes of one input or several."""
    if is_one(items):
        return [file_of(items)]
    return [file_of(item, f"<input {number}>") for number, item in enumerate(items)]


def inspect(file, *, tables=None, sections=()):
    """Read what is in a file, damaged or not. ``tables`` are those that device ELF files show, all by default but "hex"."""
    document = _cuweld.inspect([file_of(file)], None if tables is None else list(tables), list(sections))
    return document["files"][0]


def diff(left, right, *, ignore_layout=False, limit=None):
    """Compare two cubins, or files that hold exactly one."""
    return _cuweld.diff(file_of(left, "<left>"), file_of(right, "<right>"), ignore_layout, limit)


def size(files, *, base=(), by=("kinds",), archs=(), maps=(), demangle=True, rows=None):
    """Measure the device code of a file, or of several, beside that of ``base`` if there is one.

    ``maps`` are maps of links, as ``Linked.map`` has them; ``rows`` is the most that each level shows.
    """
    by = by.split(",") if isinstance(by, str) else list(by)
    maps = [json.dumps(one) for one in ([maps] if isinstance(maps, dict) else maps)]
    return _cuweld.size(files_of(files), files_of(base), by, list(archs), maps, demangle, rows)


def disasm(files, *, functions=()):
    """List the instructions of a file, or of several; of these functions alone if any is named."""
    functions = [functions] if isinstance(functions, str) else list(functions)
    return _cuweld.disasm(files_of(files), functions)
