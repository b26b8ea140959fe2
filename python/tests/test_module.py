"""Tests of the linker IR as objects."""

import collections
import pathlib
import random
import tempfile
import threading
import unittest
from collections.abc import Sequence

import cuweld

RDC = pathlib.Path(__file__).resolve().parents[2] / "examples" / "rdc"
A, B = RDC / "a.o", RDC / "b.o"
BLUR = "_Z4blurPK5PixelPS_i"


def until(step):
    return cuweld.opt([A, B], "sm_90", stop_after=step)


class Modules(unittest.TestCase):
    def test_a_link_in_steps_gives_the_same_bytes(self):
        expected = cuweld.link([A, B], "sm_90")
        for step in ["check-objects", "classify", "callgraph-dce", "place-memory", "layout-output", "emit"]:
            module = until(step)
            again = cuweld.Module.parse(str(module))
            self.assertEqual(str(again), str(module))
            if step in ("check-objects", "place-memory"):
                # It establishes no phase, or others come between it and the next one that does.
                self.assertEqual(module.link(start_after=step), expected)
            else:
                self.assertEqual(module.link(), expected)
                self.assertEqual(again.link(), expected)
            self.assertEqual(module.phase, "emitted")

    def test_a_module_in_text_form_is_an_input(self):
        expected = cuweld.link([A, B], "sm_90")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.lir"
            path.write_text(str(until("callgraph-dce")))
            self.assertEqual(cuweld.opt(path).write(), expected)
            module = cuweld.opt(path, "sm_90", ["merge-metadata"])
            self.assertEqual(module.phase, "merged")
            with self.assertRaisesRegex(cuweld.InputError, "for sm_90, not for sm_100"):
                cuweld.opt(path, "sm_100")

    def test_contents_by_reference_are_found_among_inputs(self):
        cubin = cuweld.link([A, B], "sm_90", relocatable=True)
        module = cuweld.opt(("a.cubin", cubin), "sm_90", [])
        text = module.print("ref")
        self.assertLess(len(text), len(str(module)))
        with self.assertRaisesRegex(cuweld.InputError, "line .*a.cubin"):
            cuweld.Module.parse(text)
        for inputs in [("a.cubin", cubin), [("b.cubin", b""), ("a.cubin", cubin)]]:
            again = cuweld.Module.parse(text, inputs)
            self.assertEqual(str(again), str(module))
        self.assertEqual(cuweld.diff(again.write(), cubin, ignore_layout=True)["total"], 0)
        with self.assertRaisesRegex(ValueError, "no form of contents"):
            module.print("short")

    def test_what_does_not_parse_is_refused(self):
        with self.assertRaisesRegex(cuweld.InputError, "line 1, column 1"):
            cuweld.Module.parse("nothing")
        text = str(until("callgraph-dce")).replace("live=live", "live=unknown")
        self.assertNotEqual(cuweld.Module.parse(text).verify(), [])
        with self.assertRaisesRegex(cuweld.InputError, "breaks invariants of the IR: live-set: "):
            cuweld.opt(text)
        for use in [lambda module: module.link(), lambda module: module.run("merge-metadata"), lambda module: module.write()]:
            with self.assertRaisesRegex(cuweld.InputError, "breaks invariants of the IR: live-set: .*more"):
                use(cuweld.Module.parse(text))

    def test_what_python_changes_is_verified_before_passes_run(self):
        module = until("symbol-resolve")
        fate, module.functions[0].fate = module.functions[0].fate, "discarded"
        with self.assertRaisesRegex(cuweld.InputError, "breaks invariants of the IR: function-state: fn0"):
            module.run("callgraph-dce")
        self.assertEqual(module.phase, "resolved")
        module.functions[0].fate = fate
        module.run("callgraph-dce")
        self.assertEqual(module.phase, "live")

    def test_progress_is_told_and_may_cancel(self):
        told = []
        module = cuweld.opt([A, B], "sm_90", progress=lambda name, number, of: told.append(name), stop_after="classify")
        self.assertEqual(told, ["check-objects", "classify"])
        with self.assertRaises(cuweld.LinkCancelled):
            module.link(progress=lambda *told: False)

    def test_pipelines_that_cannot_run_are_refused(self):
        module = until("classify")
        with self.assertRaisesRegex(cuweld.LinkError, "requires phase 'resolved'"):
            module.run("callgraph-dce")
        self.assertEqual(module.phase, "classified")
        with self.assertRaisesRegex(cuweld.LinkError, "unknown pass 'clasify'"):
            cuweld.opt([A, B], "sm_90", "clasify")
        with self.assertRaisesRegex(TypeError, "the architecture is missing"):
            cuweld.opt([A, B])
        with self.assertRaisesRegex(RuntimeError, "is no cubin before it is 'emitted'"):
            until("callgraph-dce").write()

    def test_a_module_with_errors_gives_no_file(self):
        with self.assertRaisesRegex(cuweld.LinkError, "Undefined reference") as caught:
            cuweld.opt(A, "sm_90")
        self.assertTrue(caught.exception.findings)
        module = cuweld.opt(A, "sm_90", [])
        with self.assertRaises(cuweld.LinkError):
            module.link()
        for again in [module.link, module.write, lambda: module.run("classify")]:
            with self.assertRaisesRegex(RuntimeError, "passes have found errors"):
                again()

    def test_inputs_that_cannot_be_read_are_told_with_the_first_passes(self):
        ptx = ("x.ptx", b".version 8.0\n.target sm_90\n.address_size 64\n")
        with self.assertRaisesRegex(cuweld.LinkError, "PTX"):
            cuweld.opt([A, B, ptx], "sm_90", [])

    def test_passes_report_and_remark(self):
        module = cuweld.opt([A, B], "sm_90", [])
        ran = module.run("classify", stats=True)
        self.assertIn("functions", ran.findings[-1].message)
        self.assertEqual(module.run("select-objects", remarks=True).remarks[0]["pass"], "select-objects")


class Rows(unittest.TestCase):
    def test_tables_are_sequences(self):
        module = until("callgraph-dce")
        functions = module.functions
        self.assertIsInstance(functions, Sequence)
        self.assertEqual(len(functions), len(list(functions)))
        self.assertEqual(functions[-1], functions[len(functions) - 1])
        self.assertEqual([one.id for one in functions[1:5:2]], ["fn1", "fn3"])
        self.assertIn(functions[0], functions)
        self.assertNotIn(module.symbols[0], functions)
        self.assertEqual([one.index for one in reversed(functions)][-1], 0)
        for wrong in [len(functions), -len(functions) - 1]:
            with self.assertRaises(IndexError):
                functions[wrong]
        self.assertEqual(len({one for _ in range(2) for one in functions}), len(functions))
        self.assertNotEqual(functions[0], until("callgraph-dce").functions[0])
        self.assertEqual(repr(module["%1"]), repr(module.symbols[1]))
        for wrong in ["fn99", "x0", "fn", ""]:
            with self.assertRaises(KeyError):
                module[wrong]

    def test_names_are_found_mangled_and_as_in_the_source(self):
        functions = until("callgraph-dce").functions
        (blur,) = functions.named(BLUR)
        self.assertEqual(functions.named("blur(const Pixel *, Pixel *, int)"), [blur])
        self.assertEqual(functions.named("blurred"), [])

    def test_rows_lead_to_each_other(self):
        module = until("callgraph-dce")
        (blur,) = module.functions.named(BLUR)
        self.assertTrue(blur.is_kernel and blur.is_live)
        self.assertEqual(blur.symbol.function, blur)
        self.assertEqual(blur.symbol.link_symbol.definition, blur.symbol)
        self.assertEqual(blur.symbol.link_symbol.function, blur)
        self.assertEqual(blur.section.owner, blur)
        self.assertEqual(blur.section.name, ".text." + BLUR)
        self.assertEqual(blur.object.name, str(A))
        self.assertIn(blur, blur.object.functions)
        self.assertEqual(blur.code, blur.section.data)
        self.assertEqual(len(blur.code), blur.size)
        self.assertIn("EXECINSTR", blur.section.flag_names)
        relocations = [one for one in module.relocations if one.applies_to == blur.section]
        self.assertTrue(relocations)
        self.assertEqual(blur.section.relocated_by, relocations)
        self.assertEqual(module.sections[0].relocated_by, [])
        self.assertTrue(all(one.type.startswith("R_CUDA_") for one in relocations))
        self.assertTrue(all(one.section.type in ("REL", "RELA") for one in relocations))
        calls = [call for call in module.calls if call.caller == blur.symbol]
        self.assertTrue(calls)
        self.assertEqual(blur.calls, calls)
        self.assertTrue(all(call.callee.object == blur.object for call in calls if call.kind == "direct"))
        self.assertEqual(sum(len(one.calls) for one in module.functions), len(module.calls))
        counts = [one for one in module.attributes if one.code == "REGCOUNT" and one.symbols == [blur.symbol]]
        self.assertEqual([one.words for one in counts], [[blur.registers]])

    def test_every_property_can_be_read(self):
        for step in ["check-objects", "classify", "callgraph-dce", "emit"]:
            module = until(step)
            tables = [name for name in dir(cuweld.Module) if isinstance(getattr(module, name), cuweld.Rows)]
            self.assertEqual(len(tables), 8)
            for row in [row for name in tables for row in getattr(module, name)]:
                for name in dir(row):
                    if not name.startswith("_"):
                        getattr(row, name)

    def test_fields_are_set_when_they_matter(self):
        module = until("classify")
        (blur,) = module.functions.named(BLUR)
        blur.registers = 40
        self.assertEqual(blur.registers, 40)
        counts = [one for one in module.attributes if one.code == "REGCOUNT" and one.symbols == [blur.symbol]]
        self.assertEqual([one.words for one in counts], [[40]])
        self.assertEqual(module.verify(), [])
        linked = cuweld.inspect(module.link())
        records = [one for table in linked["attributes"] for one in table["records"] if one["code"]["name"] == "REGCOUNT"]
        words = {one["value"]["payload"]["symbols"][0]["name"]: one["value"]["payload"]["words"] for one in records}
        self.assertEqual(words[BLUR], [40])
        with self.assertRaisesRegex(ValueError, "from 'classified' on until the module is 'merged'; it is 'emitted'"):
            blur.registers = 41

    def test_names_and_contents_of_records_are_set(self):
        module = until("classify")
        (blur,) = module.functions.named(BLUR)
        old, new = BLUR, "_Z5smearPK5PixelPS_i"
        for section in [one for one in module.sections if one.owner == blur and one.name.endswith(old)]:
            section.name = section.name[: -len(old)] + new
        for symbol in module.symbols.named(old):
            symbol.name = new
        names = [row["name"] for row in cuweld.size(module.link(), by="kernels", demangle=False)["total"]["rows"]]
        self.assertIn(new, names)
        self.assertNotIn(old, names)

    def test_wrong_values_are_refused(self):
        module = until("symbol-resolve")
        function, section, record = module.functions[0], module.sections[1], module.attributes[0]
        relocation = module.relocations[0]
        cases = [
            (function, "fate", "lost", ValueError, "is none of candidate, prevailing"),
            (function, "registers", -1, OverflowError, ""),
            (function, "stack_limit", 1, AttributeError, ""),
            (section, "align", 3, ValueError, "a power of two"),
            (section, "align", 2**40, ValueError, "up to 1048576"),
            (section, "kind", "text", ValueError, "to 'stripped' alone"),
            (function.section, "kind", "stripped", ValueError, "of kind 'text' cannot be left out"),
            (section, "name", "x", ValueError, "until the module is 'resolved'"),
            (record, "value", 1, ValueError, "has no value") if record.format == "SVAL" else (record, "words", [1], ValueError, "SVAL"),
            (relocation, "target", function, TypeError, "a Symbol or a Section of the same module"),
            (relocation, "target", until("classify").symbols[0], TypeError, "of the same module"),
            (module.link_symbols[0], "live", "live", ValueError, "from 'live' on"),
        ]
        for row, field, value, error, message in cases:
            with self.subTest(field=field), self.assertRaisesRegex(error, message):
                setattr(row, field, value)

    def test_relocations_are_changed(self):
        module = until("callgraph-dce")
        relocation = next(one for one in module.relocations if one.section.type == "RELA" and one.target)
        target, relocation.addend = relocation.target, relocation.addend + 8
        relocation.target = target
        self.assertEqual(relocation.target, target)
        self.assertIn(f"addend={relocation.addend:#x}", module.print("ref"))

    def test_records_of_objects_are_changed_until_they_are_merged(self):
        module = until("merge-metadata")
        of_objects = [one for one in module.attributes if one.section and one.format == "SVAL"]
        with self.assertRaisesRegex(ValueError, "the payload of a record .* until the module is 'merged'"):
            of_objects[0].words = [1]
        module = until("callgraph-dce")
        record = next(one for one in module.attributes if one.code == "MAX_STACK_SIZE")
        record.words = [*record.words[:-1], 4096]
        self.assertEqual(module.attributes[record.index].words[-1], 4096)
        self.assertEqual(record.payload[-4:], (4096).to_bytes(4, "little"))

    def test_sections_are_left_out(self):
        module = until("classify")
        debug = [one for one in module.sections if one.kind == "debug"]
        for section in [*debug, *[one for one in module.sections if one.kind == "relocs" and one.applies_to in debug]]:
            section.kind = "stripped"
        self.assertTrue(debug)
        self.assertEqual(module.link(), cuweld.link([A, B], "sm_90", insert="strip-debug after classify"))

    def test_random_changes_are_refused_or_linked(self):
        chance, ends = random.Random(0), collections.Counter()
        steps = ["check-objects", "classify", "symbol-resolve", "callgraph-dce", "merge-metadata", "place-memory", "layout-output"]
        fields = {
            "sections": ["name", "align", "kind"],
            "symbols": ["name", "binding", "value", "size"],
            "functions": ["fate", "registers"],
            "relocations": ["addend", "target"],
            "attributes": ["value", "payload", "words"],
            "link_symbols": ["live", "is_internal", "order"],
        }
        words = ["discarded", "folded", "live", "unreachable", "stripped", "constant-bank/3", "WEAK", "", "x", BLUR, ".nv.info"]
        for _ in range(200):
            step = chance.choice(steps)
            module = cuweld.opt([A, B], "sm_90", stop_after=step, relocatable=chance.random() < 0.3)
            for _ in range(20):
                table = chance.choice(sorted(fields))
                values = [words, [0, 1, 8, 255, 2**31, 2**64 - 1, -1], module.symbols, module.sections, [[1, 2**32 - 1], [], None, True, b"abcd"]]
                try:
                    setattr(chance.choice(getattr(module, table) or [None]), chance.choice(fields[table]), chance.choice(chance.choice(values)))
                except (ValueError, TypeError, OverflowError, AttributeError):
                    continue
                break
            try:
                module.link(start_after=step)
                ends["linked"] += 1
            except (cuweld.InputError, cuweld.LinkError) as error:
                self.assertNotIn("panicked", str(error))
                ends["refused"] += 1
        self.assertGreater(ends["linked"], 20)
        self.assertGreater(ends["refused"], 20)

    def test_threads_read_one_module(self):
        module, sums = until("callgraph-dce"), []
        work = lambda: sums.append(sum(one.registers + len(one.name) for _ in range(20) for one in module.functions))
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(10):
            str(module)
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(sums)), 1)
        self.assertEqual(len(sums), 4)

    def test_rows_keep_their_module(self):
        row = until("callgraph-dce").functions[0]
        self.assertEqual(row.module.phase, "live")


if __name__ == "__main__":
    unittest.main()
