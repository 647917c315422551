"""Counts the instructions of each kernel for a byte of text, by callgrind.

    python -m benchmarks.instructions [--update]

Builds kernels.c with the kernels of cleanpipe/native, runs it once for each instruction set that
valgrind knows here, and compares with counts.json beside this file. Exits with 1 where a kernel
needs more than 5 % more than there. --update writes counts.json instead.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
NATIVE = HERE.parents[1] / "cleanpipe" / "native"
KEPT = HERE / "counts.json"
FLAGS = ["-O3", "-std=c11", "-Wall", "-Wextra"]
"""Those of setup.py."""
SLACK = 1.05
INSTRUCTION_SETS = {"x86_64": ["scalar", "avx2"], "aarch64": ["scalar", "neon"]}

Counts = dict[str, float]
"""Instructions a byte, by "instruction set, kernel, kind of text"."""


def compiler() -> list[str]:
    return shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")


def version(command: list[str]) -> str:
    said = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    return said.stdout.splitlines()[0]


def build(program: Path) -> None:
    """kernels.c, and all of cleanpipe/native that knows no Python."""
    sources = [path for path in sorted(NATIVE.glob("*.c")) if not path.stem.startswith("binding")]
    subprocess.run(
        [*compiler(), *FLAGS, f"-I{NATIVE}", *sorted(HERE.glob("*.c")), *sources, "-o", program],
        check=True,
    )


def count(program: Path, instruction_set: str) -> Counts:
    """Run it under callgrind; the dumps are numbered from 1, two a line that it prints."""
    with tempfile.TemporaryDirectory() as folder:
        dumps = Path(folder) / "dump"
        done = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                "--toggle-collect=run_kernel",
                "--dump-after=run_kernel",
                f"--callgrind-out-file={dumps}",
                program,
            ],
            env={**os.environ, "CLEANPIPE_ISA": instruction_set},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"valgrind failed with {done.returncode}:\n{done.stderr}")
        counts = {}
        for number, line in enumerate(done.stdout.splitlines(), 1):
            kernel, kind, size = line.split("\t")
            dump = Path(f"{dumps}.{2 * number}").read_text(encoding="utf-8")
            (summary,) = (row for row in dump.splitlines() if row.startswith("summary:"))
            counts[f"{instruction_set}, {kernel}, {kind}"] = int(summary.split()[1]) / int(size)
        return counts


def compare(now: Counts, kept: Counts) -> list[str]:
    """Print each count beside the kept one; what is wrong: too many, or not counted at all."""
    print(f"{'instructions a byte':44}{'kept':>9}{'now':>9}{'ratio':>9}")
    for name, value in now.items():
        before = kept.get(name)
        beside = f"{'new':>9}" if before is None else f"{before:9.2f}"
        ratio = "" if before is None else f"{value / before:9.3f}"
        print(f"{name:44}{beside}{value:9.2f}{ratio}")
    gone = [f"{name} is no longer counted" for name in kept if name not in now]
    return gone + [
        f"{name} needs more than {SLACK - 1:.0%} more"
        for name in kept
        if name in now and now[name] > kept[name] * SLACK
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.instructions")
    parser.add_argument("--update", action="store_true", help=f"write {KEPT.name}")
    update = parser.parse_args().update
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is needed to count instructions; on Debian: apt-get install valgrind")
    machine = platform.machine()
    tools = {"compiler": version(compiler()), "valgrind": version(["valgrind"])}
    now: Counts = {}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "kernels"
        build(program)
        for instruction_set in INSTRUCTION_SETS.get(machine, ["scalar"]):
            now |= count(program, instruction_set)
    everything = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    kept = everything.get(machine, {"tools": tools, "counts": {}})
    wrong = compare(now, kept["counts"])
    if update:
        rounded = {name: round(value, 3) for name, value in now.items()}
        everything[machine] = {"tools": tools, "counts": rounded}
        KEPT.write_text(json.dumps(everything, indent=2) + "\n", encoding="utf-8")
        return
    if kept["tools"] != tools:
        print(f"kept with {kept['tools']}, now {tools}: counts differ for that alone")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
