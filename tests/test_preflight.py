"""scripts/preflight.sh: one sentence with the remedy for each thing that a machine may lack."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PREFLIGHT = Path(__file__).parent.parent / "scripts" / "preflight.sh"

# What a stub Python answers itself; anything else goes to the Python of the tests.
OLD = "*version_info*) echo 3.9; exit 1 ;;"
NEW = "*version_info*) echo 3.12; exit 0 ;;"
GCC = "*CC*) echo cc -pthread; exit 0 ;;"
NO_VENV = "*ensurepip*) exit 1 ;;"
NO_HEADERS = "*include*) echo /nowhere; exit 0 ;;"
HEADERS = "*include*) echo {here}; exit 0 ;;"

WELL = [NEW, GCC, HEADERS]
CC = "exit 0"

# (name, {tool: a Python's answers or a compiler's script}, PYTHON, chosen or parts of the sentence)
Tools = dict[str, list[str] | str]
CASES: list[tuple[str, Tools, str, str | list[str]]] = [
    ("all well", {"python3": WELL, "cc": CC}, "", "python3"),
    ("no python", {"cc": CC}, "", ["Python 3.11", "python3 is not on the PATH", "apt-get install"]),
    ("old python", {"python3": [OLD], "cc": CC}, "", ["python3 is 3.9", "make PYTHON="]),
    ("older of two", {"python3": [OLD], "python3.12": WELL, "cc": CC}, "", "python3.12"),
    (
        "newest of three",
        {"python3": [OLD], "python3.11": WELL, "python3.13": WELL, "cc": CC},
        "",
        "python3.13",
    ),
    ("named", {"python3": WELL, "python3.11": WELL, "cc": CC}, "python3.11", "python3.11"),
    (
        "named and old",
        {"python3": WELL, "python3.9": [OLD], "cc": CC},
        "python3.9",
        ["python3.9 is 3.9", "make PYTHON="],
    ),
    ("named and absent", {"python3": WELL, "cc": CC}, "python3.99", ["python3.99 is not on the"]),
    (
        "venv without ensurepip",
        {"python3": [*WELL, NO_VENV], "cc": CC},
        "",
        ["venv module of Python 3.12", "python3.12-venv"],
    ),
    ("no compiler", {"python3": WELL}, "", ["C compiler", "cc is not on the PATH", "gcc"]),
    ("no libc headers", {"python3": WELL, "cc": "exit 1"}, "", ["stdlib.h", "libc6-dev"]),
    (
        "no Python headers",
        {"python3": [NEW, GCC, NO_HEADERS], "cc": CC},
        "",
        ["headers of Python 3.12", "python3.12-dev"],
    ),
]


def preflight(folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", str(PREFLIGHT)],
        check=False,
        env={"PATH": str(folder), **env},
        capture_output=True,
        text=True,
        timeout=30,
    )


def put(file: Path, script: str) -> None:
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def build(folder: Path, tools: Tools) -> None:
    """A PATH of stubs only."""
    (folder / "Python.h").touch()
    for tool, script in tools.items():
        if isinstance(script, list):
            answers = " ".join(script).format(here=folder)
            script = f'case "$*" in {answers} esac\nexec {sys.executable} "$@"'
        put(folder / tool, script)


@pytest.mark.parametrize(
    ("tools", "python", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_preflight(tmp_path: Path, tools: Tools, python: str, expected: str | list[str]) -> None:
    build(tmp_path, tools)
    result = preflight(tmp_path, PYTHON=python)
    if isinstance(expected, str):
        assert (result.returncode, result.stderr) == (0, "")
        assert result.stdout == f"{tmp_path / expected}\n"
        return
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("cleanpipe: ")
    assert result.stderr.count("\n") == 1, "exactly one line"
    for part in expected:
        assert part in result.stderr


def test_cc_of_the_environment_is_asked(tmp_path: Path) -> None:
    build(tmp_path, {"python3": WELL, "clang": CC})
    assert preflight(tmp_path, CC="clang -O2").returncode == 0
    assert "tcc is not on the PATH" in preflight(tmp_path, CC="tcc").stderr


def test_this_machine_is_fit() -> None:
    """The tests run in an environment that the Makefile made, with the tools it found."""
    result = subprocess.run(
        ["/bin/sh", str(PREFLIGHT)], check=False, capture_output=True, text=True, timeout=30
    )
    assert (result.returncode, result.stderr) == (0, "")
