#!/usr/bin/env python3
"""Runs notebooks and compares what their cells write with the outputs that are committed.

    python run.py a.ipynb...            # fails where a cell fails or writes something else
    python run.py --write a.ipynb...    # writes the outputs into the notebooks

It needs nothing but cuweld: what a cell prints and what its last line gives are its outputs, as in Jupyter. A cell with the tag
"raises-exception" has to raise one.
"""

import ast
import contextlib
import difflib
import io
import json
import os
import pathlib
import sys
import warnings


def run_cell(source, scope, name):
    """Run a cell. Returns its outputs, in the form of notebooks, and what it raised."""
    tree = ast.parse(source, name)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        last = ast.Expression(tree.body.pop().value)
    said, outputs, raised = io.StringIO(), [], None
    with contextlib.redirect_stdout(said):
        try:
            exec(compile(tree, name, "exec"), scope)
            value = None if last is None else eval(compile(last, name, "eval"), scope)
        except Exception as error:
            value, raised = None, error
    if said.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": said.getvalue().splitlines(True)})
    if raised is not None:
        outputs.append({"ename": type(raised).__name__, "evalue": str(raised), "output_type": "error", "traceback": []})
    if value is not None:
        text = repr(value).splitlines(True)
        outputs.append({"data": {"text/plain": text}, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs, raised


def shown(outputs):
    """Return outputs as lines to compare."""
    lines = []
    for one in outputs:
        text = one.get("text") or one.get("data", {}).get("text/plain") or [f"{one.get('ename')}: {one.get('evalue')}"]
        lines += "".join(text).splitlines()
    return lines


def run(path, write):
    """Run a notebook in its folder. Returns what is wrong with it."""
    notebook = json.loads(path.read_text())
    scope, wrong, number = {"__name__": "__main__"}, [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        number += 1
        place = f"{path.name}, cell {number}"
        outputs, raised = run_cell("".join(cell["source"]), scope, place)
        may_raise = "raises-exception" in cell["metadata"].get("tags", [])
        if (raised is not None) != may_raise:
            wrong.append(f"{place}: {type(raised).__name__}: {raised}" if raised is not None else f"{place} raises nothing")
            break
        expected, found = shown(cell["outputs"]), shown(outputs)
        if not write and expected != found:
            wrong += [f"{place} writes something else; with --write that is committed:", *difflib.unified_diff(expected, found, "committed", "now", lineterm="")]
        cell["outputs"], cell["execution_count"] = outputs, number
        for one in outputs:
            if "execution_count" in one:
                one["execution_count"] = number
    if write and not wrong:
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    return wrong


def main(words):
    warnings.simplefilter("error")
    write = "--write" in words
    wrong = []
    for word in (word for word in words if word != "--write"):
        path = pathlib.Path(word).resolve()
        os.chdir(path.parent)
        wrong += run(path, write)
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
