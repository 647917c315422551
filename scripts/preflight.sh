#!/bin/sh
# Can cleanpipe be built here? Prints the Python to use, or one sentence with the remedy and exit 1.
# PYTHON and CC are honoured; uses nothing but the shell, Python and the compiler.
set -eu

fail() {
    printf 'cleanpipe: %s\n' "$1" >&2
    exit 1
}

# Prints major.minor; succeeds from 3.11 on.
version() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2]); sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

python=
seen=
for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    command -v "$candidate" >/dev/null 2>&1 || continue
    if found=$(version "$candidate"); then
        python=$(command -v "$candidate")
        break
    fi
    seen="${seen:+$seen, }$candidate is ${found:-no working Python}"
done
if [ -z "$python" ]; then
    fail "Python 3.11 or newer is needed, but ${seen:-${PYTHON:-python3} is not on the PATH}; install one (on Debian 12 or later: apt-get install python3) or name it: make PYTHON=/path/to/python3.12"
fi

# All that a Debian machine may lack, so that one remedy is enough.
debian="on Debian: apt-get install python$found-venv python$found-dev gcc libc6-dev"

"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "the venv module of Python $found is missing or incomplete; install it ($debian) and run make again"

cc=${CC:-$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("CC") or "cc")')}
command -v "${cc%% *}" >/dev/null 2>&1 ||
    fail "a C compiler is needed, but ${cc%% *} is not on the PATH; install one ($debian) or name it: make CC=clang"

# $cc may hold options, so it is split on purpose.
printf '#include <stdlib.h>\nint main(void) { return EXIT_SUCCESS; }\n' | $cc -x c -fsyntax-only - >/dev/null 2>&1 ||
    fail "${cc%% *} cannot compile a program with stdlib.h; install the C library's headers ($debian) and run make again"

headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
[ -e "$headers/Python.h" ] ||
    fail "the C headers of Python $found are missing; install them ($debian) and run make again"

printf '%s\n' "$python"
