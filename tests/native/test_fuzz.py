"""The kernels' properties of tests/native/fuzz on made-up inputs; `make fuzz` searches for more."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
CC = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")


def build(output: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "tests/native/fuzz/build.sh", str(output), *options],
        cwd=ROOT,
        env={**os.environ, "CC": CC},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, with sanitizers where the compiler has them."""
    output = tmp_path_factory.mktemp("fuzz") / "made"
    done = build(output, "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    if done.returncode:
        done = build(output)
    assert done.returncode == 0, done.stderr
    return output


@pytest.mark.skipif(SANITIZED, reason="is sanitized by itself")
@pytest.mark.skipif(not shutil.which(CC.split()[0]), reason="needs a C compiler")
def test_properties_hold_for_made_up_inputs(made: Path) -> None:
    done = subprocess.run(
        [made, "--made", "1", "20000"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
