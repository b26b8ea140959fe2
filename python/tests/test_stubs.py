"""Tests of the typed stubs: they declare what there is, and programs that use them are checked as they should be."""

import ast
import importlib.util
import inspect
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

import cuweld

STUB = pathlib.Path(cuweld.__file__).with_name("__init__.pyi")
RDC = pathlib.Path(__file__).resolve().parents[2] / "examples" / "rdc"

GOOD = """
    from typing import Literal, Optional
    import cuweld

    class Cap(cuweld.Pass):
        name = "cap"
        requires = "classified"

        def run(self, module: cuweld.Module, *, limit: int = 32, only: Literal["a", "b"] = "a") -> Optional[bool]:
            for function in module.functions:
                if function.registers > limit:
                    function.registers = limit
                    self.remark("is capped", function)
            return None

    @cuweld.pass_(name="say", requires="live")
    def say(self: cuweld.Pass, module: cuweld.Module, *, words: list[str] = []) -> None:
        self.warning("x", notes=words)

    cubin: bytes = cuweld.link(["a.o"], "sm_90", insert=[Cap(limit=24).placed_after("classify")], debug=True)
    linked = cuweld.Linker("sm_90", passes=[say], insert="say after callgraph-dce", map=True).add("a.o").link()
    if linked.map is not None:
        places: dict[str, int] = {one["name"]: one["offset"] for one in linked.map["sections"]}
    why: list[str] = [one["message"] for one in linked.remarks if one["pass"] == "say"]
    node = cuweld.inspect("a.o")
    if node["kind"] == "device-elf":
        names: list[str] = [one["name"] for one in node["sections"]]
    largest: int = max(row["size"]["file"] for row in cuweld.size("a.o", by="kernels")["total"]["rows"])
    module = cuweld.opt("a.o", "sm_90", ["classify", Cap, say()])
    ran: cuweld.Ran = module.run("select-objects", remarks=True)
    link_symbol = module.functions[0].symbol.link_symbol
    if link_symbol is not None:
        link_symbol.live = "live"
    code: bytes = module.functions[0:2][0].code
"""

#: A line, and what mypy has to say of it.
WRONG = [
    ('cuweld.link(["a.o"])', "arch"),
    ('cuweld.opt("a.o", "sm_90").phase = "live"', "read-only"),
    ('cuweld.opt("a.o", "sm_90").functions[0].fate = "lost"', "Incompatible types"),
    ('cuweld.opt("a.o", "sm_90").functions[0].name = "x"', "read-only"),
    ('cuweld.inspect("a.o")["sections"]', "not a valid TypedDict key|has no key"),
    ('cuweld.size("a.o", by=["kernel"])', "List item 0"),
    ('cuweld.pass_(name="x", requires="alive")', "requires"),
    ('cuweld.Pass().warn("x")', "no attribute"),
]


class Stubs(unittest.TestCase):
    def test_the_stub_declares_what_there_is(self):
        tree = ast.parse(STUB.read_text())
        declared = {}
        for node in tree.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
                declared[node.name] = node
        self.assertEqual(sorted(declared), sorted(cuweld.__all__))
        for name, node in declared.items():
            found = getattr(cuweld, name)
            if isinstance(node, ast.FunctionDef):
                self.parameters_agree(name, node, found)
                continue
            members = {}
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    members[member.name] = member
                elif isinstance(member, ast.AnnAssign):
                    members[member.target.id] = member
            for word, member in members.items():
                if not (word == "findings" and name == "LinkError"):
                    self.assertTrue(hasattr(found, word), f"{name}.{word} is declared and not there")
                if isinstance(member, ast.FunctionDef) and not member.decorator_list and inspect.isfunction(getattr(found, word)):
                    self.parameters_agree(f"{name}.{word}", member, getattr(found, word))
            public = {word for word in vars(found) if not word.startswith("_")}
            self.assertEqual(public - members.keys(), set(), f"members of {name} that are not declared")

    def parameters_agree(self, name, node, function):
        declared = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        found = [
            one.name
            for one in inspect.signature(function).parameters.values()
            if one.kind not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        ]
        # Settings that have a type of their own are among the keywords that are handed on.
        words = [one.arg for one in declared]
        handed_on = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in inspect.signature(function).parameters.values())
        missing = [word for word in words if word not in found]
        self.assertEqual([word for word in found if word not in words], [], f"parameters of {name} that are not declared")
        self.assertTrue(handed_on or not missing, f"parameters of {name} that are not there: {missing}")

    def test_what_can_be_set_is_declared_so(self):
        module = cuweld.opt([RDC / "a.o", RDC / "b.o"], "sm_90", stop_after="callgraph-dce")
        tables = [getattr(module, name) for name in dir(module) if isinstance(getattr(module, name), cuweld.Rows)]
        rows = {type(table[0]).__name__: table[0] for table in tables}
        self.assertEqual(len(rows), 8)
        for node in ast.parse(STUB.read_text()).body:
            if not isinstance(node, ast.ClassDef) or node.name not in rows:
                continue
            setters = [one.name for one in node.body if isinstance(one, ast.FunctionDef) and isinstance(one.decorator_list[0], ast.Attribute)]
            declared = {one.target.id for one in node.body if isinstance(one, ast.AnnAssign)} | set(setters)
            row, found = rows[node.name], set()
            for word in vars(type(row)):
                if not word.startswith("_"):
                    try:
                        setattr(row, word, object())
                    except AttributeError:
                        continue
                    except (TypeError, ValueError):
                        found.add(word)
            self.assertEqual(found, declared, node.name)

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
    def test_programs_are_checked_strictly(self):
        with tempfile.TemporaryDirectory() as folder:
            good = pathlib.Path(folder) / "good.py"
            good.write_text(textwrap.dedent(GOOD))
            wrong = pathlib.Path(folder) / "wrong.py"
            wrong.write_text("import cuweld\n" + "".join(line + "\n" for line, _ in WRONG))
            command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", folder]
            done = subprocess.run([*command, str(good)], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            done = subprocess.run([*command, str(wrong)], capture_output=True, text=True)
            for number, (line, message) in enumerate(WRONG, 2):
                said = [one for one in done.stdout.splitlines() if f"wrong.py:{number}: error" in one]
                self.assertRegex("\n".join(said), message, line)


if __name__ == "__main__":
    unittest.main()
