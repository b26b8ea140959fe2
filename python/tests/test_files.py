"""Tests of what looks into files: the documents are those of the program, and have the types that are declared."""

import json
import pathlib
import subprocess
import sys
import typing
import unittest

import cuweld
from cuweld import documents

TESTS = pathlib.Path(__file__).resolve().parents[2]
RDC = TESTS / "examples" / "rdc"
A, B = RDC / "a.o", RDC / "b.o"
PROGRAM = pathlib.Path(sys.prefix) / "bin" / "cuweld"


def said(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    return json.loads(done.stdout)


def misfits(value, hint, place="document"):
    """List where a value is not of a type; a dictionary has the keys of its type and no others."""
    if isinstance(hint, str):
        hint = getattr(documents, hint)
    if isinstance(hint, typing.ForwardRef):
        hint = getattr(documents, hint.__forward_arg__)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is typing.Any:
        return []
    if origin is typing.Union:
        found = [misfits(value, one, place) for one in arguments]
        return [] if [] in found else min(found, key=len)
    if origin is typing.Literal:
        return [] if value in arguments else [f"{place}: {value!r} is none of {arguments}"]
    if origin is list:
        if not isinstance(value, list):
            return [f"{place}: {value!r} is no list"]
        return [miss for number, one in enumerate(value) for miss in misfits(one, arguments[0], f"{place}[{number}]")]
    if origin is dict:
        return [] if isinstance(value, dict) else [f"{place}: {value!r} is no dictionary"]
    if typing.is_typeddict(hint) if hasattr(typing, "is_typeddict") else hasattr(hint, "__total__"):
        if not isinstance(value, dict):
            return [f"{place}: {value!r} is no dictionary"]
        hints = typing.get_type_hints(hint)
        found = [f"{place}: {key} is missing" for key in hint.__required_keys__ - value.keys()]
        found += [f"{place}: {key} is not declared" for key in value.keys() - hints.keys()]
        return found + [
            miss for key, one in value.items() if key in hints for miss in misfits(one, hints[key], f"{place}.{key}")
        ]
    is_one = value is None if hint is type(None) else isinstance(value, hint) and (hint is bool or not isinstance(value, bool))
    return [] if is_one else [f"{place}: {value!r} is no {hint}"]


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.linked = cuweld.Linker("sm_90", map=True, remarks=True).add(A).add(B).link()
        cls.relocatable = cuweld.link([A, B], "sm_90", relocatable=True)

    def assertFits(self, value, hint):
        self.assertEqual(misfits(value, hint)[:5], [])

    def test_misfits_are_found(self):
        self.assertEqual(misfits({"value": 1, "name": None}, documents.Coded), [])
        for wrong in [{"value": 1}, {"value": "1", "name": None}, {"value": 1, "name": None, "x": 1}, [], {"value": True, "name": None}]:
            self.assertNotEqual(misfits(wrong, documents.Coded), [], wrong)
        self.assertNotEqual(misfits({"kind": "unknown"}, documents.Node), [])

    def test_inspect_gives_what_the_program_writes(self):
        (expected,) = said("inspect", "--json", A)["files"]
        self.assertEqual(cuweld.inspect(A), expected)
        self.assertFits(expected, documents.Node)
        self.assertFits(cuweld.inspect(self.linked.cubin), documents.Node)
        self.assertFits(cuweld.inspect(self.relocatable, tables=["sections", "hex"]), documents.Node)
        self.assertFits(cuweld.inspect(b".version 8.0\n.target sm_90\n"), documents.Node)

    def test_tables_and_sections_are_chosen(self):
        whole = cuweld.inspect(self.linked.cubin)
        self.assertEqual(whole["kind"], "device-elf")
        sections = cuweld.inspect(self.linked.cubin, tables=["sections"], sections=[".nv.info"])
        self.assertEqual([one["name"] for one in sections["sections"]], [".nv.info"])
        self.assertEqual(sections["attributes"], [])
        with self.assertRaisesRegex(ValueError, "no table 'section': they are headers, sections"):
            cuweld.inspect(A, tables=["section"])

    def test_damage_is_told_in_its_place(self):
        node = cuweld.inspect(("cut", self.linked.cubin[:5000]))
        self.assertEqual(node["name"], "cut")
        self.assertNotEqual(node["errors"], [])
        self.assertFits(node, documents.Node)

    def test_diff_gives_what_the_program_writes(self):
        debug = cuweld.link([A, B], "sm_90", debug=True)
        self.assertTrue(cuweld.diff(self.linked.cubin, self.linked.cubin)["identical"])
        differences = cuweld.diff(("a", self.linked.cubin), ("b", debug), limit=3)
        self.assertFits(differences, documents.Diff)
        self.assertEqual(len(differences["differences"]), 3)
        self.assertGreater(differences["total"], 3)
        less = cuweld.diff(self.linked.cubin, debug, ignore_layout=True)
        self.assertLess(less["total"], differences["total"])
        with self.assertRaisesRegex(cuweld.InputError, "<left>: not an archive, ELF file"):
            cuweld.diff(b"nothing", debug)
        with self.assertRaisesRegex(cuweld.InputError, "'x.ptx' holds no device ELF"):
            cuweld.diff(debug, ("x.ptx", b".version 8.0\n.target sm_90\n"))

    def test_size_gives_what_the_program_writes(self):
        expected = said("size", "--format=json", "-d", "kinds,symbols", A, B)
        found = cuweld.size([A, B], by=["kinds", "symbols"])
        self.assertEqual(found, expected)
        self.assertFits(found, documents.Size)
        kernels = cuweld.size(self.linked.cubin, by="kernels", base=self.relocatable)
        self.assertFits(kernels, documents.Size)
        objects = cuweld.size(("out", self.linked.cubin), by="objects", maps=self.linked.map, rows=2)
        names = [row["name"] for row in objects["total"]["rows"]]
        self.assertTrue(any(name.endswith(".o") for name in names), names)
        with self.assertRaisesRegex(ValueError, "'kernel' is no source"):
            cuweld.size(A, by="kernel")

    def test_disasm_gives_what_the_program_writes(self):
        name = "_Z4blurPK5PixelPS_i"
        self.assertEqual(cuweld.disasm(A, functions=name), said("disasm", "--json", "--function", name, A))
        self.assertFits(cuweld.disasm([A, B]), documents.Disasm)
        with self.assertRaisesRegex(cuweld.InputError, "no file has a function 'blur'"):
            cuweld.disasm(A, functions="blur")

    def test_maps_and_remarks_have_their_types(self):
        self.assertFits(self.linked.map, documents.Map)
        self.assertGreater(len(self.linked.remarks), 10)
        self.assertFits(self.linked.remarks, typing.List[documents.Remark])


if __name__ == "__main__":
    unittest.main()
