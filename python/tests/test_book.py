"""Runs the examples of Python in the book and in the package's page."""

import io
import os
import pathlib
import re
import sys
import types
import unittest
import warnings

import cuweld

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["docs/using/python.md", "docs/framework/writing-passes.md", "python/README.md"]


class Book(unittest.TestCase):
    def setUp(self):
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(ROOT / "examples" / "rdc")

    def test_examples_run(self):
        for page in PAGES:
            examples = re.findall(r"(?ms)^```python\n(.*?)^```", (ROOT / page).read_text())
            self.assertTrue(examples, page)
            # As in a program that has them one after the other.
            module = types.ModuleType("example")
            sys.modules["example"] = module
            self.addCleanup(sys.modules.pop, "example", None)
            for number, example in enumerate(examples, 1):
                with self.subTest(f"{page}, {number}"), warnings.catch_warnings():
                    warnings.simplefilter("ignore", cuweld.LinkWarning)
                    exec(compile(example, f"{page}, example {number}", "exec"), vars(module))
            tests = unittest.defaultTestLoader.loadTestsFromModule(module)
            result = unittest.TextTestRunner(stream=io.StringIO()).run(tests)
            self.assertEqual([said for _, said in [*result.failures, *result.errors]], [], page)
            if page.endswith("writing-passes.md"):
                self.assertEqual(result.testsRun, 1)


if __name__ == "__main__":
    unittest.main()
