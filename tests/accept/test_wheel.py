"""A wheel works in a clean environment, from any folder. Needs a package registry."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def call(*command: object, cwd: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "HOME": str(cwd)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of what git has, so that nothing in the work tree helps it."""
    folder = tmp_path_factory.mktemp("wheel")
    call("git", "clone", "-q", ROOT, folder / "clone", cwd=folder)
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder]
    call(*pip, folder / "clone", cwd=folder)
    (made,) = folder.glob("*.whl")
    return made


def test_one_wheel_for_all_pythons(wheel: Path) -> None:
    assert "-cp311-abi3-" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert "cleanpipe/filters/models/lid.176.ftz" in names
    assert "cleanpipe/filters/models/demo.zh.bin" in names
    assert "cleanpipe/filters/data/ldnoobw/zh.except.txt" in names
    assert "cleanpipe/filters/data/simplified.txt" in names
    assert "cleanpipe/pipelines/starter.yaml" in names
    assert not [name for name in names if name.endswith((".c", ".h")) or name.startswith("tests")]


def test_in_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    call(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    call(tmp_path / "venv/bin/pip", "install", "-q", wheel, cwd=tmp_path)
    (tmp_path / "a.jsonl").write_text('{"text": "short"}\n' * 2, encoding="utf-8")
    cleanpipe = tmp_path / "venv/bin/cleanpipe"
    assert "gopher_quality" in call(cleanpipe, "stages", cwd=Path("/"))
    run = [cleanpipe, "run", "starter", "--input", "a.jsonl", "--output", "out"]
    assert "2 documents in" in call(*run, cwd=tmp_path)
