#!/bin/sh
# Tries the properties of tests/native/fuzz with libFuzzer: fuzz.sh SECONDS, from the root.
# CLANG names another clang. What is found is kept in build/fuzz, and tried first the next time.
set -eu

clang=${CLANG:-clang}
sanitizers=address,undefined
folder=build/fuzz

mkdir -p $folder/corpus $folder/found
echo 'int LLVMFuzzerTestOneInput(const char *, long); int LLVMFuzzerTestOneInput(const char *data, long size) { return !data && size; }' |
    "$clang" -x c -fsanitize=fuzzer,$sanitizers - -o $folder/probe 2>$folder/probe.log || {
    printf 'cleanpipe: make fuzz needs a clang with libFuzzer, and %s is none; install it (on Debian: apt-get install clang libclang-rt-dev) or name it: CLANG=clang-19\n' "$clang" >&2
    exit 1
}

CC=$clang sh tests/native/fuzz/build.sh $folder/fuzz -DFUZZ_LIBFUZZER \
    -fsanitize=fuzzer,$sanitizers -fno-sanitize-recover=all

# 1 KiB reaches every path, and shorter texts mean more of them. No input takes a second.
$folder/fuzz -max_total_time="$1" -max_len=1024 -len_control=0 -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix=$folder/found/ -print_final_stats=1 $folder/corpus >$folder/log 2>&1 || {
    cat $folder/log >&2
    file=$(sed -n 's/.*Test unit written to //p' $folder/log | tail -n 1)
    printf 'cleanpipe: a property does not hold: %s\nrun it again: %s/fuzz %s\n' \
        "${file:-no input was written}" $folder "$file" >&2
    exit 1
}
sed -n '/^Done/p; /^stat::number_of_executed_units/p' $folder/log
