"""The one C extension; all else is in pyproject.toml.

CLEANPIPE_SANITIZE=1 builds it with AddressSanitizer and UBSan, for an interpreter started with
LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" and
ASAN_OPTIONS=detect_leaks=0 (CPython itself keeps memory to its end).
"""

import os
from glob import glob

from setuptools import Extension, setup  # type: ignore[import-untyped, unused-ignore]

flags = ["-O3", "-std=c11", "-Wall", "-Wextra", "-fvisibility=hidden"]
link_flags = []
if os.environ.get("CLEANPIPE_SANITIZE") == "1":
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
    # CPython is built with -fwrapv, with which no signed overflow would be reported.
    flags += [*sanitizers, "-g", "-fno-omit-frame-pointer", "-fno-wrapv", "-fstrict-overflow"]
    link_flags += sanitizers

setup(
    ext_modules=[
        Extension(
            "cleanpipe._native",
            sources=sorted(glob("cleanpipe/native/*.c")),
            depends=sorted(glob("cleanpipe/native/*.h")),
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
            extra_compile_args=flags,
            extra_link_args=link_flags,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
