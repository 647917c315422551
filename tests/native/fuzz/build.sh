#!/bin/sh
# Compiles the kernels and their properties: build.sh OUTPUT [compiler options], from the root.
set -eu

output=$1
shift
kernels=
for source in cleanpipe/native/*.c; do
    case $source in */binding*.c) ;; *) kernels="$kernels $source" ;; esac
done

# CC may hold options, so it is split on purpose.
# -O1: reports name the right lines, and inputs are few more at -O3.
exec ${CC:-cc} -std=c11 -O1 -g -fno-omit-frame-pointer -Wall -Wextra \
    -Dmalloc=fuzz_malloc -Dcalloc=fuzz_calloc -Drealloc=fuzz_realloc \
    -Icleanpipe/native -Itests/native/fuzz "$@" $kernels tests/native/fuzz/*.c -o "$output"
