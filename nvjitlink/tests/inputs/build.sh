#!/bin/bash
# Makes the inputs again from their sources, with the tools of CUDA 13.0.88 on PATH.
set -e
cd "$(dirname "$0")"
for sm in 80 90 100 120; do for x in a b; do
  sed "s/sm_90/sm_$sm/; s/version 8.8/version 9.0/" $x.ptx > t.ptx
  ptxas -c -arch=sm_$sm t.ptx -o $x.$sm.cubin
done; done
rm t.ptx
for x in a b; do
  fatbinary --create=$x.90.fatbin -64 --image3=kind=elf,sm=90,file=$x.90.cubin
  nvcc -rdc=true -arch=sm_90 -c $x.cu -o $x.90.o
  nvcc -dlto -ltoir -arch=lto_90 $x.cu -o $x.ltoir
done
nvcc -dlto -arch=lto_90 -c a.cu -o a.lto.o
ar rcs libab.a a.90.o b.90.o
