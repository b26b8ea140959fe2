#!/usr/bin/env python3
"""A subprocess pass: reports what functions need, and can cap the register count that kernels ask for.

Usage in a pipeline file:

    [[pass]]
    use = "exec"
    options = { command = ["python3", "launch_bounds.py", "--at-least", "32"], requires = "classified" }

It reads a module in text form (docs/framework/lir.md) from standard input and writes one to standard output; what it writes to
standard error is shown by cuweld. A row is a line, so a few regular expressions do for many questions.
"""

import argparse
import re
import sys

FUNCTION = re.compile(r"^(\s*)(fn\d+) %\d+:(\S+) (.*)$")
REGISTERS = re.compile(r"registers=(\d+)")
REGCOUNT = re.compile(r"^(\s*a\d+ SVAL REGCOUNT %\d+:(\S+) )(\d+)$")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--at-least", type=int, default=0, metavar="N", help="raise smaller register counts to N")
    args = parser.parse_args()
    out = []
    for line in sys.stdin:
        line = line.rstrip("\n")
        if row := FUNCTION.match(line):
            count = REGISTERS.search(row[4])
            registers = int(count[1]) if count else 0
            print(f"{row[3]}: {registers} registers", file=sys.stderr)
            if count and registers < args.at_least:
                line = line.replace(count[0], f"registers={args.at_least}")
        elif (row := REGCOUNT.match(line)) and int(row[3]) < args.at_least:
            line = row[1] + str(args.at_least)
        out.append(line)
    print("\n".join(out))


if __name__ == "__main__":
    main()
