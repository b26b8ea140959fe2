#!/usr/bin/env bash
# Compiles the two units to host objects with relocatable device code inside: a.o and b.o, which are committed.
# Needs nvcc 13.0, e.g. from `eval "$(tests/tools/oracle)"`. To link them, without any GPU:
#
#   cuweld nvlink -arch=sm_90 a.o b.o -o rdc.cubin
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# nvcc puts the path of the sources into names it makes, so the build runs in one fixed folder; without -keep the names of
# temporary files would differ from build to build.
work=/tmp/cuweld-examples
rm -rf "$work"
mkdir -p "$work"
cp "$here"/*.cu "$here"/*.cuh "$work"
cd "$work"
for unit in a b; do
  nvcc -keep -rdc=true -c -arch=sm_90 "$unit.cu" -o "$unit.o"
  cp "$unit.o" "$here/"
done
