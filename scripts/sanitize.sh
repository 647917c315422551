#!/bin/sh
# Runs the kernels' tests with the extension built with ASan and UBSan, once for each instruction
# set: sanitize.sh PYTHON [pytest options], from the root. The work is done on a copy in
# build/sanitize, so that no sanitized extension gets into the checkout.
set -eu

python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
copy=build/sanitize
tests="tests/native tests/test_text.py tests/test_surface.py tests/test_signatures.py tests/dedup/test_ngram_index.py"
cc=${CC:-gcc}

fail() {
    printf 'cleanpipe: %s\n' "$1" >&2
    exit 1
}

# The runtimes come first in the process, as they must; libstdc++ with them, or ASan finds no
# __cxa_throw to wrap and ends the process at pyarrow's first C++ exception.
preload=
for library in libasan.so libubsan.so libstdc++.so.6; do
    path=$(${cc} -print-file-name=$library)
    [ "$path" != $library ] ||
        fail "make sanitize needs gcc's sanitizers, and ${cc%% *} has no $library; name another compiler: make sanitize CC=gcc"
    preload="$preload $path"
done

rm -rf $copy
mkdir -p $copy/reports
cp -RP cleanpipe filters dedup pipelines tests docs scripts examples setup.py \
    pyproject.toml Makefile README.md LICENSE NOTICE MANIFEST.in $copy
cd $copy
find . -name '_native*.so' -exec rm -f {} +
CC=$cc CLEANPIPE_SANITIZE=1 "$python" setup.py -q build_ext --inplace
present=
for test in $tests; do
    [ ! -e "$test" ] || present="$present $test"
done

sanitized() {
    # detect_leaks: CPython and its modules keep memory to their end.
    # allocator_may_return_null: tests ask for too much, and want a MemoryError.
    # log_path: tests start processes, and may swallow what a dying one says.
    # PYTHONMALLOC, ARROW_DEFAULT_MEMORY_POOL: each object and buffer is a block that ASan knows.
    env LD_PRELOAD="$preload" PYTHONMALLOC=malloc ARROW_DEFAULT_MEMORY_POOL=system \
        ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:log_path=$PWD/reports/asan" \
        UBSAN_OPTIONS=print_stacktrace=1 \
        PYTHONPATH="$PWD" "$python" "$@"
}

# Also that the sanitized extension is the one that is imported.
sets=$(sanitized -c '
from pathlib import Path
from cleanpipe import _native
assert b"__asan_init" in Path(_native.__file__).read_bytes(), _native.__file__
print(*getattr(_native, "ISAS", ["scalar"]))
')
failed=0
# --capture=sys: UBSan writes to stderr whatever log_path says, and then ends the process.
for isa in $sets; do
    echo "sanitized, CLEANPIPE_ISA=$isa"
    CLEANPIPE_ISA=$isa sanitized -m pytest --capture=sys -p no:cacheprovider $present "$@" || failed=1
done
for report in reports/*; do
    [ ! -e "$report" ] || { cat "$report" >&2; failed=1; }
done
[ $failed = 0 ] || fail "the sanitizers reported something, or tests failed; what was tested is in $copy"
