#!/usr/bin/env python3
"""A pass for cuweld: warns of kernels that need more registers than a limit.

It reads a module in text form from standard input. What it writes to standard output is the module that the link
goes on with, or, as here, comments alone, which change nothing.
"""

import argparse
import re
import sys

SYMBOL = re.compile(r"\s*%(\d+) \S+ .*\bother=ENTRY\b")
FUNCTION = re.compile(r"\s*(fn\d+) %(\d+):.* registers=(\d+)")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=int, default=32, metavar="N", help="the most registers that a kernel may need")
    args = parser.parse_args()
    kernels = set()
    for line in sys.stdin:
        if row := SYMBOL.match(line):
            kernels.add(row[1])
        elif (row := FUNCTION.match(line)) and row[2] in kernels and int(row[3]) > args.limit:
            # What is shown begins with the name of the row.
            print(f"; warning: {row[1]} needs {row[3]} registers, more than {args.limit}")
    print(f"; statistic: kernels = {len(kernels)}")


if __name__ == "__main__":
    main()
