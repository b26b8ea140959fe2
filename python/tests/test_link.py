"""Tests of the installed package: python -m unittest discover python/tests"""

import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

import cuweld

RDC = pathlib.Path(__file__).resolve().parents[2] / "examples" / "rdc"
A, B = RDC / "a.o", RDC / "b.o"
PROGRAM = pathlib.Path(sys.prefix) / "bin" / "cuweld"


class Links(unittest.TestCase):
    def test_the_program_writes_the_same(self):
        cases = {"": {}, "-r": {"relocatable": True}, "--toolkit=13.5": {"toolkit": "13.5"}, "-j2": {"jobs": 2}}
        for word, settings in cases.items():
            with tempfile.TemporaryDirectory() as folder:
                output = pathlib.Path(folder) / "out.cubin"
                words = [PROGRAM, "link", "--arch=sm_90", "--ignore-host-info", A, B, "-o", output]
                subprocess.run(words + [word] * bool(word), check=True)
                self.assertEqual(cuweld.link([A, B], "sm_90", **settings), output.read_bytes())

    def test_inputs_are_paths_bytes_or_named_bytes(self):
        expected = cuweld.link([str(A), B], arch="sm_90")
        mixed = [("a.o", A.read_bytes()), memoryview(bytearray(B.read_bytes()))]
        self.assertEqual(cuweld.link(mixed, arch="sm_90"), expected)
        linked = cuweld.Linker("sm_90").add(A, kind="object").add(B.read_bytes(), "b").link()
        self.assertEqual(linked.cubin, expected)
        size = A.stat().st_size + B.stat().st_size
        expected = {"inputs": 2, "input_bytes": size, "output_bytes": len(expected)}
        self.assertEqual(linked.statistics, expected)
        self.assertIsNone(linked.map)

    def test_maps_say_what_lies_where(self):
        linked = cuweld.Linker("sm_90", map=True).add(A).add(B).link()
        [section] = [section for section in linked.map["sections"] if section["name"] == ".nv.global"]
        symbols = [symbol["name"] for piece in section["pieces"] for symbol in piece["symbols"]]
        self.assertEqual(symbols, ["brightest", "pixels_done"])
        self.assertEqual(pathlib.Path(section["pieces"][1]["input"]["name"]), B)

    def test_errors_have_findings(self):
        with self.assertRaises(cuweld.LinkError) as raised:
            cuweld.link([A], arch="sm_90")
        self.assertTrue(str(raised.exception).startswith("Undefined reference to"))
        finding = raised.exception.findings[0]
        self.assertEqual((finding.severity, finding.code), ("error", "link/undefined"))
        self.assertEqual(str(finding), finding.message)
        self.assertTrue(finding.notes[0].startswith("referenced by"))
        self.assertIsNone(finding.deviation)

    def test_what_is_wrong_is_said(self):
        for error, text, call in [
            (ValueError, "'sm_1' is no architecture", lambda: cuweld.link([], "sm_1")),
            (cuweld.SettingError, "'relocatable' is one", lambda: cuweld.link([], "sm_90", relocatabel=True)),
            (cuweld.SettingError, "unknown toolkit", lambda: cuweld.link([], "sm_90", toolkit="1.0")),
            (cuweld.InputError, "'x' is not anything", lambda: cuweld.link([("x", b"text")], "sm_90")),
            (cuweld.InputError, "is not a cubin", lambda: cuweld.Linker("sm_90").add(A, kind="cubin")),
            (ValueError, "'cu' is no kind", lambda: cuweld.Linker("sm_90").add(A, kind="cu")),
            (FileNotFoundError, "nothing.o", lambda: cuweld.link(["nothing.o"], "sm_90")),
        ]:
            with self.assertRaisesRegex(error, text):
                call()
        linker = cuweld.Linker("sm_90").add(A).add(B)
        linker.link()
        with self.assertRaisesRegex(ValueError, "has linked already"):
            linker.link()

    def test_warnings_are_warned_of(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            cuweld.link([A, B], "sm_90")
        self.assertEqual(caught, [])

    def test_progress_is_told_and_may_cancel(self):
        passes = []
        cuweld.link([A, B], "sm_90", progress=lambda name, number, of: passes.append((name, number <= of)))
        self.assertIn(("symbol-resolve", True), passes)
        with self.assertRaises(cuweld.LinkCancelled):
            cuweld.link([A, B], "sm_90", progress=lambda *told: False)

        def raises(*told):
            raise KeyError("own")

        with self.assertRaisesRegex(KeyError, "own"):
            cuweld.link([A, B], "sm_90", progress=raises)

    def test_threads_link_at_once(self):
        expected, outputs = cuweld.link([A, B], "sm_90"), []
        work = lambda: outputs.extend(cuweld.link([A, B], "sm_90") for _ in range(20))
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(outputs), 80)
        self.assertTrue(all(output == expected for output in outputs))

    def test_settings_are_listed(self):
        for word in ["toolkit", "debug", "kernels_used"]:
            self.assertIn(word, cuweld.settings())


class JitLink(unittest.TestCase):
    """The library is loaded once for a process: each test has one of its own."""

    def run_python(self, text):
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
        return done.stdout, done.stderr

    def test_programs_find_it_loaded(self):
        said, errors = self.run_python(
            "import cuweld.nvjitlink, ctypes, os\n"
            "library = ctypes.CDLL('libnvJitLink.so.13', mode=os.RTLD_NOLOAD)\n"
            "print(library.nvJitLinkOfCuweld())\n"
        )
        self.assertEqual((said, errors), ("1\n", ""))

    def test_another_one_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            library = pathlib.Path(folder) / "libnvJitLink.so.13"
            words = ["cc", "-shared", "-o", library, "-Wl,-soname,libnvJitLink.so.13", "-x", "c", "/dev/null"]
            subprocess.run(words, check=True)
            said, errors = self.run_python(f"import ctypes; ctypes.CDLL('{library}'); import cuweld.nvjitlink")
        self.assertIn("ImportError: another libnvJitLink.so.13 is loaded already", errors)

    def test_the_program_knows_where_it_is(self):
        done = subprocess.run([PROGRAM, "jitlink", "path"], capture_output=True, text=True)
        said, _ = self.run_python("import cuweld.nvjitlink; print(cuweld.nvjitlink.path)")
        self.assertEqual(pathlib.Path(done.stdout.strip()).resolve(), pathlib.Path(said.strip()).resolve())


if __name__ == "__main__":
    unittest.main()
