"""cuweld, the open CUDA device linker: bytes in, bytes out.

    import cuweld
    cubin = cuweld.link(["a.o", "b.o"], arch="sm_90")
"""

import os
import warnings

from ._cuweld import Finding, InputError, LinkCancelled, Linked, LinkError, SettingError
from ._cuweld import Linker as _Linker

__all__ = [
    "Finding",
    "InputError",
    "LinkCancelled",
    "LinkError",
    "LinkWarning",
    "Linked",
    "Linker",
    "SettingError",
    "link",
    "settings",
]


class LinkWarning(UserWarning):
    """What a link that succeeds warns of, such as a deviation from nvlink's output."""


class Linker:
    """A link that is to be done: settings first, then inputs, in the order in which they are linked.

    Settings are those that ``settings()`` lists, with ``_`` for ``-``: ``toolkit="13.0.88"``,
    ``debug=True``, ``kernels_used=["name"]``.
    """

    def __init__(self, arch, *, progress=None, **settings):
        self._linker = _Linker(arch)
        for word, value in settings.items():
            self._linker.set(word.replace("_", "-"), _values(value))
        if progress is not None:
            self._linker.progress(progress)

    def add(self, data, name=None, kind="any"):
        """Add an input: bytes, or the path of a file. Messages use its name. Returns the linker."""
        if isinstance(data, (str, os.PathLike)):
            with open(data, "rb") as file:
                data, name = file.read(), name or os.fspath(data)
        self._linker.add(bytes(data), "<memory>" if name is None else name, kind)
        return self

    def link(self):
        """Link, which a linker does once. Other threads run meanwhile.

        Raises ``LinkError`` with ``findings``, ``LinkCancelled``, or what ``progress`` raised.
        """
        return self._linker.link()


def link(inputs, arch, **settings):
    """Link inputs, each bytes, a path, or a tuple of a name and bytes. Returns the cubin.

    What the link warns of is a ``LinkWarning``; ``Linker`` has all findings.
    """
    linker = Linker(arch, **settings)
    for number, item in enumerate(inputs):
        if isinstance(item, tuple):
            linker.add(item[1], item[0])
        elif isinstance(item, (str, os.PathLike)):
            linker.add(item)
        else:
            linker.add(item, f"<input {number}>")
    linked = linker.link()
    for finding in linked.findings:
        if finding.severity in ("warning", "error"):
            warnings.warn(finding.message, LinkWarning, stacklevel=2)
    return linked.cubin


def settings():
    """List the settings that ``link`` and ``Linker`` take."""
    return [word.replace("-", "_") for word in _Linker.words()]


def _values(value):
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, (str, int, os.PathLike)):
        return [str(value)]
    return [str(one) for one in value]
