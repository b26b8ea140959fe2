"""Tests of passes written in Python."""

import json
import pathlib
import tempfile
import threading
import typing
import unittest
import warnings

import cuweld

RDC = pathlib.Path(__file__).resolve().parents[2] / "examples" / "rdc"
A, B = RDC / "a.o", RDC / "b.o"
BLUR = "_Z4blurPK5PixelPS_i"


class AtLeast(cuweld.Pass):
    """Raise the registers of functions.

    Functions with fewer registers get as many.
    """

    name = "at-least"
    requires = "classified"
    before = "merged"

    def run(self, module, *, registers: int = 32, only: typing.Literal["all", "kernels"] = "all", names: typing.List[str] = []):
        for function in module.functions:
            if only == "kernels" and not function.is_kernel or names and function.name not in names:
                continue
            if function.registers < registers:
                self.count("raised")
                self.remark(f"has {registers} registers instead of {function.registers}", function)
                function.registers = registers


@cuweld.pass_(name="look", requires="live")
def look(self, module):
    """Count what is live."""
    self.count("live functions", sum(one.is_live for one in module.functions))
    self.warning("looked", notes="with both eyes", helps=["look away"])


def made(name, function, **declaration):
    return cuweld.pass_(name=name, **declaration)(function)


def registers(cubin):
    """Return the registers that each function of a cubin needs."""
    tables = cuweld.inspect(cubin)["attributes"]
    records = [one for table in tables for one in table["records"] if one["code"]["name"] == "REGCOUNT"]
    payloads = [one["value"]["payload"] for one in records]
    return {one["symbols"][0]["name"]: one["words"][0] for one in payloads}


def link(**settings):
    return cuweld.Linker("sm_90", **settings).add(A).add(B).link()


class Passes(unittest.TestCase):
    def test_a_pass_takes_part_in_a_link(self):
        before = registers(link().cubin)
        self.assertLess(min(before.values()), 40)
        for settings in [
            {"passes": [AtLeast], "insert": "at-least{registers=40} after classify"},
            {"passes": [AtLeast(registers=40)], "insert": ["at-least after classify"]},
            {"insert": AtLeast(registers=40).placed_after("classify")},
            {"insert": [AtLeast(registers=40).placed_before("select-objects")]},
            {"passes": [AtLeast], "pipeline": "@executable,at-least{registers=40} after symbol-resolve"},
        ]:
            with self.subTest(settings):
                after = registers(link(**settings).cubin)
                self.assertEqual(after, {name: max(count, 40) for name, count in before.items()})

    def test_options_have_types(self):
        self.assertEqual(str(AtLeast()), "at-least")
        one = AtLeast(registers=40, names=[BLUR, 'a "b"\\'], only="kernels")
        self.assertEqual(str(one), 'at-least{registers=40,names=["%s", "a \\"b\\"\\\\"],only="kernels"}' % BLUR)
        after = registers(link(insert=one.placed_after("classify")).cubin)
        self.assertEqual([name for name, count in after.items() if count == 40], [BLUR])
        for options in [{"limit": 1}, {"registers": "1"}, {"registers": True}, {"only": "some"}, {"names": "x"}, {"names": [1]}]:
            with self.subTest(options), self.assertRaises(TypeError):
                AtLeast(**options)
        for text, message in [
            ("at-least{register=1}", "there is no option 'register'"),
            ("at-least{registers='x'}", "takes a whole number"),
            ("at-least{only='some'}", "takes 'all' or 'kernels'"),
        ]:
            with self.subTest(text), self.assertRaisesRegex(cuweld.LinkError, message):
                link(passes=[AtLeast], insert=text + " after classify")

    def test_types_may_stand_as_text(self):
        def later(self, module: "Module", *, limit: "int" = 3, names: "typing.Sequence[str]" = (), is_loud=False):
            self.warning(f"{limit} {list(names)} {is_loud}")

        linked = link(insert=made("later", later)(limit=4, names=["a"], is_loud=True).placed_after("classify"))
        self.assertEqual(linked.findings[0].message, "4 ['a'] True")

    def test_declarations_that_make_no_sense_are_refused(self):
        nothing = lambda self, module: None
        place = {"pipeline": "x"}

        def untyped(self, module, *, option=None):
            pass

        def without(self, module, *, option: int):
            pass

        def wrong(self, module, *, option: int = "x"):
            pass

        def unknown(self, module: "Module", *, option: "Limit" = 3):
            pass

        cases = [
            (lambda: made("x", nothing, need="live"), TypeError, "a pass has no 'need'"),
            (lambda: link(passes=[made("a b", nothing)], pipeline="a b"), ValueError, "make a name"),
            (lambda: link(passes=[made("x", nothing, requires="alive")], **place), ValueError, "no phase 'alive'"),
            (lambda: link(passes=[made("x", nothing, refuses=["debugging"])], **place), ValueError, "no fact of a link"),
            (lambda: link(passes=[made("x", untyped)], **place), TypeError, "an option is a bool"),
            (lambda: link(passes=[made("x", without)], **place), TypeError, "has no default"),
            (lambda: link(passes=[made("x", wrong)], **place), TypeError, "does not take its default 'x'"),
            (lambda: link(passes=[made("x", unknown)], **place), TypeError, "the type of option 'option' .*'Limit' is not defined"),
            (lambda: link(passes=[int], **place), TypeError, "no cuweld.Pass"),
            (lambda: link(passes=[look]), ValueError, "the pass 'look' is in no pipeline"),
            (lambda: link(passes=[look], insert="looking after classify"), ValueError, "the pass 'look' is in no pipeline"),
            (lambda: look().warning("x"), RuntimeError, "is not running"),
        ]
        for number, (declare, error, message) in enumerate(cases):
            with self.subTest(number), self.assertRaisesRegex(error, message):
                declare()

    def test_what_a_pass_says_is_among_the_findings(self):
        linked = link(insert=[look().placed_after("callgraph-dce"), AtLeast().placed_after("classify")], remarks=["at-least"], stats=True)
        (warning,) = [one for one in linked.findings if one.severity == "warning"]
        self.assertEqual((warning.message, warning.notes, warning.helps), ("looked", ["with both eyes"], ["look away"]))
        self.assertEqual(warning.code, "extension/finding")
        (table,) = [one.message for one in linked.findings if one.severity == "report"]
        self.assertRegex(table, r"(?m)^03-at-least\n *\d+  raised$")
        self.assertRegex(table, r"-look .*\n *\d+  live functions")
        self.assertEqual({one["pass"] for one in linked.remarks}, {"at-least"})
        self.assertIn("'blur(const Pixel *, Pixel *, int)' has 32 registers instead of 24", [one["message"] for one in linked.remarks])
        with self.assertWarnsRegex(cuweld.LinkWarning, "looked"):
            cuweld.link([A, B], "sm_90", insert=look().placed_after("callgraph-dce"))

    def test_counters_are_data(self):
        counts = made("counts", lambda self, module: (self.count('all "functions"', len(module.functions)), self.count("x"), self.count("x", 2), None)[3])
        linked = link(insert=counts().placed_after("classify"), stats="json")
        steps = json.loads(linked.findings[-1].message)
        self.assertEqual(steps[2], {"step": "03-counts", "pass": "counts", "changed": False, "counters": {'all "functions"': 10, "x": 3}})
        wrong = made("wrong", lambda self, module: self.count("\n"))
        with self.assertRaisesRegex(cuweld.LinkError, "no name of a counter"):
            link(insert=wrong().placed_after("classify"))

    def test_remarks_are_made_if_somebody_listens(self):
        heard = []
        listens = made("listens", lambda self, module: heard.append(self.hears_remarks))
        link(insert=listens().placed_after("classify"))
        link(insert=listens().placed_after("classify"), remarks=True)
        self.assertEqual(heard, [False, True])

    def test_errors_of_a_pass_fail_the_link(self):
        finds = made("finds", lambda self, module: (self.error("first"), self.error("second"), None)[2])
        with self.assertRaisesRegex(cuweld.LinkError, "first") as caught:
            link(insert=finds().placed_after("classify"))
        self.assertEqual([one.message for one in caught.exception.findings], ["first", "second"])
        stops = made("stops", lambda self, module: self.fatal("no further"))
        later = []
        after = made("after", lambda self, module: later.append(module))
        with self.assertRaisesRegex(cuweld.LinkError, "no further"):
            link(insert=[stops().placed_after("classify"), after().placed_after("stops")])
        self.assertEqual(later, [])

    def test_an_exception_is_an_error_of_the_link_that_names_the_pass(self):
        def raises(self, module):
            self.warning("before")
            raise KeyError("own")

        with self.assertRaisesRegex(cuweld.LinkError, "pass 'raises' raised KeyError: 'own'") as caught:
            link(insert=made("raises", raises)().placed_after("classify"))
        self.assertIsInstance(caught.exception.__cause__, KeyError)
        warning, error = caught.exception.findings
        self.assertEqual((warning.message, error.severity, error.code), ("before", "fatal", "extension/exception"))
        self.assertEqual(error.notes[0], "Traceback (most recent call last):")
        self.assertRegex(error.notes[1], "test_passes.py.*in raises")
        self.assertIn('    raise KeyError("own")', error.notes)
        for returned in [3, "x"]:
            with self.assertRaisesRegex(cuweld.LinkError, r"TypeError: run\(\) returned .*: whether the module was changed"):
                link(insert=made("returns", lambda self, module: returned)().placed_after("classify"))

    def test_an_exception_that_ends_programs_does(self):
        def interrupts(self, module):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            link(insert=made("interrupts", interrupts)().placed_after("classify"))

    def test_a_broken_module_is_an_error_of_the_pass(self):
        def breaks(self, module):
            module.functions[0].fate = "discarded"

        with self.assertRaisesRegex(cuweld.LinkError, "the module that pass 'breaks' left breaks invariants") as caught:
            link(insert=made("breaks", breaks)().placed_after("symbol-resolve"))
        self.assertTrue(caught.exception.findings[-1].notes[0].startswith("function-state: fn0:"))

    def test_a_phase_that_a_pass_claims_is_verified(self):
        claims = made("claims", lambda self, module: None, requires="classified", establishes="selected")
        with self.assertRaisesRegex(cuweld.LinkError, "pass 'claims' left breaks invariants") as caught:
            cuweld.opt([A, B], "sm_90", ["classify", claims])
        self.assertTrue(caught.exception.findings[-1].notes[0].startswith("state-set: "))

    def test_whether_a_pass_changed_something_is_found_out(self):
        changed = []

        def changes(self, module):
            module.functions[0].registers = 99
            return False

        with self.assertRaisesRegex(cuweld.LinkError, "pass 'changes' changed the module, and returned False"):
            link(insert=made("changes", changes)().placed_after("classify"))
        # The same value is no change.
        same = lambda self, module: [setattr(one, "registers", one.registers) for one in module.functions] == []
        link(insert=made("same", same)().placed_after("classify"))
        for returned in [None, True]:
            def sets(self, module):
                module.functions[0].registers = 99
                return returned

            linked = link(insert=made("sets", sets)().placed_after("classify"), stats=True)
            (table,) = [one.message for one in linked.findings if one.severity == "report"]
            self.assertNotRegex(table, "03-sets .no change.")

    def test_the_order_of_passes_is_checked(self):
        nothing = lambda self, module: None
        late = made("late", nothing, requires="live")
        early = made("early", nothing, before="resolved")
        only = made("only", nothing, refuses=["relocatable"])
        single = made("single", nothing, once=True)
        needed = made("needed", nothing, required=True)
        for settings, message in [
            ({"insert": late().placed_after("classify")}, "pass 'late' .* requires phase 'live'"),
            ({"insert": early().placed_after("symbol-resolve")}, "early"),
            ({"insert": only().placed_after("classify"), "relocatable": True}, "only"),
            ({"insert": [single().placed_after("classify"), single().placed_before("emit")]}, "single"),
            ({"insert": late().placed_after("nowhere")}, "no step 'nowhere'"),
            ({"insert": needed().placed_after("classify"), "skip": ["needed"]}, "pass 'needed', without which the file may be wrong"),
        ]:
            with self.subTest(message), self.assertRaisesRegex(cuweld.LinkError, message):
                link(**settings)

    def test_a_pass_may_take_the_place_of_one_of_ours(self):
        seen = []
        own = made("own-report", lambda self, module: seen.append(module.phase))
        link(insert=own().in_place_of("report-resources"))
        self.assertEqual(len(seen), 1)

    def test_a_module_is_lent_for_the_time_of_the_pass(self):
        kept = []
        keeps = made("keeps", lambda self, module: kept.extend([module, module.functions, module.functions[0]]))
        link(insert=keeps().placed_after("classify"))
        module, functions, function = kept
        for access in [lambda: module.phase, lambda: functions[0].name, lambda: str(module), lambda: function.registers, lambda: module.run("classify")]:
            with self.assertRaisesRegex(RuntimeError, "the pass that was lent this module has ended"):
                access()
        self.assertEqual((function.id, len(functions)), ("fn0", functions.__len__()))

    def test_a_thread_that_outlives_the_pass_loses_the_module(self):
        ended, began = [], threading.Event()

        def reads(module):
            try:
                while True:
                    for function in module.functions:
                        function.name, function.code, function.symbol.link_symbol
                    began.set()
            except RuntimeError as error:
                ended.append(str(error))

        def starts(self, module):
            threads.append(threading.Thread(target=reads, args=[module]))
            threads[-1].start()
            began.wait()

        threads = []
        for _ in range(20):
            began.clear()
            link(insert=made("starts", starts)().placed_after("callgraph-dce"))
        for thread in threads:
            thread.join()
        self.assertEqual(ended, ["the pass that was lent this module has ended"] * 20)

    def test_a_running_module_is_out_of_reach(self):
        module, said = cuweld.opt([A, B], "sm_90", []), []

        def reaches(self, lent):
            for access in [lambda: module.phase, lambda: module.run("classify"), lambda: lent.run("classify")]:
                try:
                    access()
                except RuntimeError as error:
                    said.append(str(error))

        module.run(made("reaches", reaches))
        self.assertEqual(said, ["passes are running on this module"] * 2 + ["a module that is lent to a pass is run by its link"])
        self.assertEqual(module.phase, "lowered")

    def test_passes_run_over_modules(self):
        found = []

        class Finds(cuweld.Pass):
            """Find kernels."""

            name = "finds"
            requires = "classified"

            def run(self, module):
                found.extend(one.name for one in module.functions if one.is_kernel)

        module = cuweld.opt([A, B], "sm_90", ["classify", AtLeast(registers=40), "select-objects"])
        self.assertTrue(all(one.registers >= 40 for one in module.functions))
        module.run(Finds, "symbol-resolve,callgraph-dce")
        self.assertIn(BLUR, found)
        linked = link(insert=AtLeast(registers=40).placed_after("classify")).cubin
        self.assertEqual(module.link(), linked)

    def test_an_object_keeps_what_it_finds_and_a_class_does_not(self):
        class Counts(cuweld.Pass):
            """Count runs."""

            name = "counts"
            runs = 0

            def run(self, module):
                self.runs += 1
                assert self.runs == 1 or not fresh

        one, fresh = Counts(), False
        link(insert=one.placed_after("classify"))
        link(insert=one.placed_after("classify"))
        self.assertEqual(one.runs, 2)
        fresh = True
        for _ in range(2):
            link(passes=[Counts], insert="counts after classify")

    def test_a_pass_stands_several_times_in_a_pipeline(self):
        class Notes(cuweld.Pass):
            """Note the options."""

            name = "notes"

            def run(self, module, *, limit: int = 1, words: typing.List[str] = []):
                self.noted = (limit, list(words))
                noted.append((limit, list(words)))

        noted, one, two, three = [], Notes(), Notes(limit=2), Notes(words=("a",))
        places = [one.placed_after("classify"), two.placed_after("select-objects"), three.placed_after("symbol-resolve")]
        link(insert=places)
        self.assertEqual([one.noted, two.noted, three.noted], [(1, []), (2, []), (1, ["a"])])
        self.assertEqual(noted, [one.noted, two.noted, three.noted])
        link(insert=[*places[:2], "notes{limit=3} after place-memory"])
        self.assertEqual(noted[3:], [(1, []), (2, []), (3, [])])
        self.assertEqual(two.noted, (2, []))
        with self.assertRaisesRegex(ValueError, "two passes are named 'notes'"):
            link(insert=[one.placed_after("classify"), made("notes", lambda self, module: None)().placed_before("emit")])

    def test_a_file_may_name_a_pass(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "own.toml"
            path.write_text('name = "own"\n[[pass]]\ninclude = "executable"\n[[pass]]\nuse = "at-least"\noptions = { registers = 50 }\nafter = "classify"\n')
            cubin = link(passes=[AtLeast], pipeline=f'@"{path}"').cubin
        self.assertEqual(set(registers(cubin).values()), {50})

    def test_links_with_passes_run_in_threads(self):
        expected, outputs = link(insert=AtLeast().placed_after("classify")).cubin, []
        work = lambda: outputs.extend(link(insert=AtLeast().placed_after("classify")).cubin for _ in range(10))
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(outputs, [expected] * 40)

    def test_a_pass_may_use_threads(self):
        def shares(self, module):
            found = []
            work = lambda: found.append(sum(one.registers for one in module.functions))
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(set(found)) == 1 and len(found) == 4

        link(insert=made("shares", shares)().placed_after("classify"))


if __name__ == "__main__":
    warnings.simplefilter("error")
    unittest.main()
