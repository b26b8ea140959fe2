#!/usr/bin/env bash
# Compiles ../objects to host objects for three GPUs: a.o and b.o, which are committed. Needs nvcc 13.0, e.g. from
# `eval "$(tests/tools/oracle)"`.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# nvcc puts the path of the sources into names it makes; without -keep the names of temporary files would differ from build
# to build.
work=/tmp/cuweld-dlink-three
rm -rf "$work"
mkdir -p "$work"
cp "$here"/../objects/*.cu "$work"
cd "$work"
codes=()
for sm in 80 90 100; do
  codes+=("-gencode=arch=compute_$sm,code=sm_$sm")
done
for unit in a b; do
  nvcc -keep -dc "${codes[@]}" "$unit.cu" -o "$unit.o"
  cp "$unit.o" "$here/"
done
