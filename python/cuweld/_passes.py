"""Passes written in Python."""

import inspect
import json
import re
import typing

_REQUIRED = inspect.Parameter.empty
_NAME = re.compile(r"[A-Za-z0-9_.-]+")


class Pass:
    """A pass: a step of a link that reads and changes a module.

    A subclass has a ``name`` and a method ``run(self, module, *, option: type = default)``; the parameters after ``*`` are
    the options of the pass in pipelines. ``MyPass(option=value)`` is the pass with other values. ``str(MyPass(limit=3))`` is
    what it is in a pipeline: ``my-pass{limit=3}``.
    """

    #: The name in pipelines.
    name = ""
    #: One line that says what it does; the first line of the documentation if it is empty.
    summary = ""
    #: The phase that a module must have reached.
    requires = "lowered"
    #: The phase that a module has reached after the pass, if the pass is a milestone.
    establishes = None
    #: The phase at which the pass comes too late.
    before = None
    #: Facts of a link, such as "relocatable", with which the pass refuses to run.
    refuses = ()
    #: Whether a pipeline may have the pass once only.
    once = False
    #: Whether a link that writes a file may not do without the pass.
    required = False

    def __init__(self, **options):
        known = {option["name"]: option for option in _options(type(self))}
        for word, value in options.items():
            key = word.replace("_", "-")
            if key not in known:
                raise TypeError(f"the pass '{self.name}' has no option '{word}'")
            if not _accepts(known[key], value):
                raise TypeError(f"option '{word}' of the pass '{self.name}' does not take {value!r}")
        self._given = {word: list(value) if isinstance(value, tuple) else value for word, value in options.items()}
        self._context = None

    def run(self, module):
        """Read and change the module. Return whether it was changed, or nothing: then it is found out."""
        raise NotImplementedError(f"the pass '{self.name}' has no run()")

    def __str__(self):
        options = ",".join(f"{word.replace('_', '-')}={_toml(value)}" for word, value in self._given.items())
        return f"{self.name}{{{options}}}" if options else self.name

    def __repr__(self):
        return f"<Pass {self}>"

    def placed_after(self, step):
        """Return the pass at a place in a pipeline, for ``insert``: after the step of this pass."""
        return Placed(self, "after", step)

    def placed_before(self, step):
        """Return the pass at a place in a pipeline, for ``insert``: before the step of this pass."""
        return Placed(self, "before", step)

    def in_place_of(self, step):
        """Return the pass at a place in a pipeline, for ``insert``: instead of the step of this pass."""
        return Placed(self, "replace", step)

    def note(self, message, *, notes=(), helps=()):
        """Say something that is shown with explanations only."""
        self._say("note", message, notes, helps)

    def info(self, message, *, notes=(), helps=()):
        """Say something for information."""
        self._say("info", message, notes, helps)

    def warning(self, message, *, notes=(), helps=()):
        """Warn. The link goes on."""
        self._say("warning", message, notes, helps)

    def error(self, message, *, notes=(), helps=()):
        """Report an error. The link goes on to find more, and fails."""
        self._say("error", message, notes, helps)

    def fatal(self, message, *, notes=(), helps=()):
        """Report an error that ends the link after this pass."""
        self._say("fatal", message, notes, helps)

    def count(self, name, number=1):
        """Add to a counter of the pass, which the setting ``stats`` shows."""
        if not name.isprintable():
            raise ValueError(f"no name of a counter: {name!r}")
        self._running().count(name, number)

    def remark(self, text, about=None):
        """Say what was decided and why, of a row or of the link. The setting ``remarks`` shows it."""
        self._running().remark(about, text)

    @property
    def hears_remarks(self):
        """Whether somebody listens to remarks, for those that take time to make."""
        return self._running().hears_remarks

    def _say(self, severity, message, notes, helps):
        self._running().finding(severity, message, _lines(notes), _lines(helps))

    def _running(self):
        if self._context is None:
            raise RuntimeError(f"the pass '{self.name}' is not running")
        return self._context


class Placed:
    """A pass beside a step of a pipeline."""

    def __init__(self, placed, side, step):
        self._pass, self._side, self._step = placed, side, step

    def __str__(self):
        return f"{self._pass} {self._side} {self._step}"

    def __repr__(self):
        return f"<Placed {self}>"


def pass_of(item):
    """Return the pass that an item of a list of passes brings with it; None for a text."""
    if isinstance(item, Placed):
        return item._pass
    return None if isinstance(item, str) else item


def text_of(item):
    """Return an item of a list of passes as pipelines spell it."""
    return item.name if isinstance(item, type) and issubclass(item, Pass) else str(item)


def names(text, name):
    """Return whether a pipeline in one line has a pass of this name."""
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", text) is not None


def pass_(*, name, **declaration):
    """Make a pass of a function ``(self, module, *, option: type = default)``; its documentation is that of the pass."""
    for word in declaration:
        if word not in _DECLARED:
            raise TypeError(f"a pass has no '{word}': there are {', '.join(_DECLARED)}")

    def made(function):
        fields = {"name": name, "run": function, "__doc__": function.__doc__, "__module__": function.__module__}
        return type(function.__name__, (Pass,), {**fields, **declaration})

    return made


_DECLARED = ("summary", "requires", "establishes", "before", "refuses", "once", "required")


def class_of(passed):
    """Return the class of a pass, which a list of passes may have itself."""
    cls = passed if isinstance(passed, type) else type(passed)
    if not issubclass(cls, Pass):
        raise TypeError(f"{passed!r} is no cuweld.Pass")
    if not isinstance(cls.name, str) or not _NAME.fullmatch(cls.name):
        raise ValueError(f"{cls.__name__}.name is {cls.name!r}: letters, digits, '_', '-' and '.' make a name")
    return cls


def described(cls, passed):
    """Return what Rust is told of a pass, and the function that runs it: one of the list ``passed``."""
    doc = inspect.cleandoc(cls.__doc__ or cls.run.__doc__ or f"A pass in Python, `{cls.__name__}`.")
    description = {
        "name": cls.name,
        "summary": cls.summary or doc.splitlines()[0].rstrip("."),
        "doc": doc,
        "requires": cls.requires,
        "establishes": cls.establishes,
        "before": cls.before,
        "refuses": list(cls.refuses),
        "once": cls.once,
        "required": cls.required,
        "options": [{**option, "default": _toml(option["default"])} for option in _options(cls)],
    }

    def run(module, context, options):
        given = {word.replace("-", "_"): value for word, value in json.loads(options).items()}
        ran = _object(cls, passed, given)
        before, ran._context = ran._context, context
        try:
            returned = ran.run(module, **{**ran._given, **given})
        finally:
            ran._context = before
        if returned is None or isinstance(returned, bool):
            return returned
        raise TypeError(f"run() returned {returned!r}: whether the module was changed, or nothing")

    return description, run


def _object(cls, passed, given):
    """Return the object that runs with these options: one that was handed in may keep what it finds."""
    objects = [one for one in passed if not isinstance(one, type)]
    for one in objects:
        if one._given == given:
            return one
    if len(objects) == 1 and len(passed) == 1:
        return objects[0]
    return cls()


def _options(cls):
    """Return the options of a pass: the parameters of ``run`` that are given by name alone."""
    parameters = list(inspect.signature(cls.run).parameters.values())
    by_name = [one for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY]
    if not by_name:
        return []
    options = []
    for one in by_name:
        if one.default is _REQUIRED:
            raise TypeError(f"option '{one.name}' of the pass '{cls.name}' has no default")
        kind, choices = _kind(_type(cls, one))
        if kind is None:
            raise TypeError(
                f"option '{one.name}' of the pass '{cls.name}': an option is a bool, an int, a str, a list of str, or a Literal of str"
            )
        option = {"name": one.name.replace("_", "-"), "kind": kind, "choices": choices, "default": one.default, "doc": ""}
        if not _accepts(option, one.default):
            raise TypeError(f"option '{one.name}' of the pass '{cls.name}' does not take its default {one.default!r}")
        options.append(option)
    return options


def _type(cls, parameter):
    """Return the type of an option; without one, that of its default."""
    hint = parameter.annotation
    if hint is _REQUIRED:
        return type(parameter.default)
    if not isinstance(hint, str):
        return hint
    # `from __future__ import annotations`; other parameters may have types that are there for checkers alone.
    try:
        return eval(hint, getattr(inspect.unwrap(cls.run), "__globals__", {}))
    except Exception as error:
        raise TypeError(f"the type of option '{parameter.name}' of the pass '{cls.name}': {error}") from error


def _kind(hint):
    """Return the kind of an option with this type, and its choices."""
    if hint in (bool, int, str):
        return hint.__name__, []
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal and all(isinstance(one, str) for one in arguments):
        return "choice", list(arguments)
    if hint in (list, tuple) or (getattr(origin, "__name__", "") in _LISTS and set(arguments) <= {str, ...}):
        return "list", []
    return None, []


_LISTS = ("list", "tuple", "Sequence", "Iterable", "Collection")


def _accepts(option, value):
    kind = option["kind"]
    if kind == "list":
        return isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)
    if kind == "choice":
        return value in option["choices"]
    if kind == "int":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, {"bool": bool, "str": str}[kind])


def _toml(value):
    """Return a value as pipelines spell it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for characters beyond the first plane, which stand as they are.
        return json.dumps(value, ensure_ascii=False)
    return "[" + ", ".join(_toml(one) for one in value) + "]"


def _lines(lines):
    return [lines] if isinstance(lines, str) else list(lines)
