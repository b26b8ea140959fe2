"""Runs the notebooks of examples/notebooks: a cell that fails or writes something else than is committed fails the test."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

NOTEBOOKS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "notebooks"


def run(*words):
    done = subprocess.run([sys.executable, NOTEBOOKS / "run.py", *words], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def notebook(folder, *cells):
    """Write a notebook of cells: source, lines of output, tags."""
    made = []
    for source, output, *tags in cells:
        outputs = [{"name": "stdout", "output_type": "stream", "text": output}] if output else []
        made.append({"cell_type": "code", "metadata": {"tags": tags}, "source": [source], "outputs": outputs})
    path = pathlib.Path(folder) / "made.ipynb"
    path.write_text(json.dumps({"cells": made}))
    return path


class Notebooks(unittest.TestCase):
    def test_cells_write_what_is_committed(self):
        paths = sorted(NOTEBOOKS.glob("*.ipynb"))
        self.assertGreaterEqual(len(paths), 2)
        for path in paths:
            with self.subTest(path.name):
                self.assertEqual(run(path), (0, ""))
                cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
                self.assertTrue(any(cell["outputs"] for cell in cells))

    def test_cells_that_fail_or_differ_are_told(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run(notebook(folder, ("print(1)", ["1\n"]), ("2", []))), (1, "made.ipynb, cell 2 writes something else; with --write that is committed:\n--- committed\n+++ now\n@@ -0,0 +1 @@\n+2\n"))
            code, said = run(notebook(folder, ("a = 1", []), ("a / 0", [])))
            self.assertEqual((code, said), (1, "made.ipynb, cell 2: ZeroDivisionError: division by zero\n"))
            code, said = run(notebook(folder, ("import warnings; warnings.warn('x')", [])))
            self.assertEqual((code, said), (1, "made.ipynb, cell 1: UserWarning: x\n"))
            self.assertEqual(run(notebook(folder, ("1;", [], "raises-exception"))), (1, "made.ipynb, cell 1 raises nothing\n"))

    def test_outputs_are_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = notebook(folder, ("print('a')\n[1]", []), ("1 / 0", [], "raises-exception"))
            self.assertEqual(run("--write", path), (0, ""))
            self.assertEqual(run(path), (0, ""))
            written = [cell["outputs"] for cell in json.loads(path.read_text())["cells"]]
            self.assertEqual([[one["output_type"] for one in outputs] for outputs in written], [["stream", "execute_result"], ["error"]])


if __name__ == "__main__":
    unittest.main()
