"""cuweld, the open CUDA device linker: bytes in, bytes out.

    import cuweld
    cubin = cuweld.link(["a.o", "b.o"], arch="sm_90")

``inspect``, ``diff``, ``size`` and ``disasm`` look into files; ``opt`` gives a link as a ``Module``, the linker's IR; ``Pass``
is a pass in Python.
"""

import collections.abc
import os
import warnings

from ._cuweld import (
    Attribute,
    Call,
    Finding,
    Function,
    InputError,
    LinkCancelled,
    Linked,
    LinkError,
    LinkSymbol,
    Module,
    Object,
    Ran,
    Relocation,
    Row,
    Rows,
    Section,
    SettingError,
    Symbol,
    phases,
)
from ._cuweld import Linker as _Linker
from ._files import diff, disasm, inspect, is_one, size
from ._passes import Pass, Placed, class_of, described, names, pass_, pass_of, text_of

__all__ = [
    "Attribute",
    "Call",
    "Finding",
    "Function",
    "InputError",
    "LinkCancelled",
    "LinkError",
    "LinkSymbol",
    "LinkWarning",
    "Linked",
    "Linker",
    "Module",
    "Object",
    "Pass",
    "Placed",
    "Ran",
    "Relocation",
    "Row",
    "Rows",
    "Section",
    "SettingError",
    "Symbol",
    "diff",
    "disasm",
    "inspect",
    "link",
    "opt",
    "pass_",
    "phases",
    "settings",
    "size",
]

collections.abc.Sequence.register(Rows)


class LinkWarning(UserWarning):
    """What a link that succeeds warns of, such as a deviation from nvlink's output."""


class Linker:
    """A link that is to be done: settings first, then inputs, in the order in which they are linked.

    Settings are those that ``settings()`` lists, with ``_`` for ``-``: ``toolkit="13.0.88"``,
    ``debug=True``, ``kernels_used=["name"]``. ``passes`` are passes in Python that ``pipeline`` and ``insert`` name;
    ``insert`` also takes passes with their place, such as ``MyPass().placed_after("callgraph-dce")``.
    """

    def __init__(self, arch, *, progress=None, passes=(), **settings):
        self._linker = _Linker(arch)
        # By name, the passes in Python.
        self._passes = {}
        inserted = settings.get("insert", ())
        inserted = [inserted] if isinstance(inserted, (str, Placed)) else list(inserted)
        if "insert" in settings:
            settings["insert"] = [text_of(one) for one in inserted]
        texts = [str(settings.get("pipeline", "")), *settings.get("insert", ())]
        for one in passes:
            self._add_pass(one)
            # A file may name it.
            if not any(names(text, one.name) or '@"' in text for text in texts):
                raise ValueError(f"the pass '{one.name}' is in no pipeline: name it in insert or pipeline")
        for one in inserted:
            if pass_of(one) is not None:
                self._add_pass(pass_of(one))
        for word, value in settings.items():
            self._linker.set(word.replace("_", "-"), _values(value))
        if progress is not None:
            self._linker.progress(progress)

    def _add_pass(self, added):
        cls = class_of(added)
        passed = self._passes.setdefault(cls.name, [])
        if not passed:
            self._linker.add_pass(*described(cls, passed))
        elif class_of(passed[0]) is not cls:
            raise ValueError(f"two passes are named '{cls.name}'")
        passed.append(added)

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
    _add(linker, inputs)
    linked = linker.link()
    _warn(linked.findings)
    return linked.cubin


def opt(inputs, arch=None, passes=None, *, start_after=None, stop_after=None, **settings):
    """Run passes over inputs, or over a module in text form. Returns the module.

    ``passes`` is a pipeline in one line, or a list of names and passes in Python in the order in which they run; without it
    the standard pipeline runs, or what is left of it. ``stop_after`` names the last pass that runs. A module in text form is
    a path that ends in .lir, or a text that begins with ``lir 1``; it knows its architecture.
    """
    module = _parsed(inputs)
    if module is None:
        if arch is None:
            raise TypeError("the architecture is missing: arch, such as 'sm_90'")
        pipeline, own = _pipeline(passes)
        linker = Linker(arch, **{**settings, **pipeline})
        for one in own:
            linker._add_pass(one)
        _add(linker, [inputs] if is_one(inputs) else inputs)
        module = linker._linker.lower()
        ran = linker._linker.run(module, stop_after) if start_after is None else linker._linker.run_rest(module, start_after, stop_after)
        _warn(ran.findings)
        return module
    if arch is not None and arch != module.target:
        raise InputError(f"the module is for {module.target}, not for {arch}")
    if passes is None:
        ran = _run_rest(module, start_after, stop_after, settings)
    else:
        ran = _run(module, passes, stop_after, settings)
    _warn(ran.findings)
    return module


def _parsed(inputs):
    """Return the module, if it is one in text form."""
    if isinstance(inputs, str) and inputs.startswith("lir 1\n"):
        return Module.parse(inputs)
    if isinstance(inputs, (str, os.PathLike)) and os.fspath(inputs).endswith(".lir"):
        with open(inputs, encoding="utf-8") as file:
            return Module.parse(file.read())
    return None


def _pipeline(passes):
    """Return the setting for a list of passes, and those of them that are in Python."""
    if passes is None:
        return {}, []
    if isinstance(passes, str):
        return {"pipeline": passes}, []
    passes = list(passes)
    own = [pass_of(one) for one in passes if pass_of(one) is not None]
    return {"pipeline": ",".join(text_of(one) for one in passes)}, own


def _run(module, passes, stop_after, settings):
    """Run passes over a module as it is."""
    pipeline, own = _pipeline(passes)
    linker = Linker(module.target, **{**settings, **pipeline})
    for one in own:
        linker._add_pass(one)
    return linker._linker.run(module, stop_after)


def _run_rest(module, start_after, stop_after, settings):
    """Run the rest of a pipeline over a module."""
    linker = Linker(module.target, **settings)
    return linker._linker.run_rest(module, start_after, stop_after)


def _link_module(module, start_after, settings):
    """Run the rest of a pipeline over a module. Returns the cubin."""
    _warn(_run_rest(module, start_after, None, settings).findings)
    return module.write()


def _add(linker, inputs):
    for number, item in enumerate(inputs):
        if isinstance(item, tuple):
            linker.add(item[1], item[0])
        elif isinstance(item, (str, os.PathLike)):
            linker.add(item)
        else:
            linker.add(item, f"<input {number}>")


def _warn(findings):
    for finding in findings:
        if finding.severity in ("warning", "error"):
            warnings.warn(finding.message, LinkWarning, stacklevel=3)


def settings():
    """List the settings that ``link`` and ``Linker`` take."""
    return [word.replace("-", "_") for word in _Linker.words()]


def _values(value):
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, (str, int, os.PathLike)):
        return [str(value)]
    return [str(one) for one in value]
