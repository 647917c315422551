"""One import root, one identity for each module, and arrows that run one way."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .jobs import ROOT, environment

PACKAGES = ("filters", "dedup", "pipelines")
SHELL = {"cleanpipe/index_cli.py", "cleanpipe/lm_cli.py"}
"""The commands that build what a stage reads: the only modules that know both."""
SKIPPED = {".venv", "build", "dist", ".git"}


def sources() -> Iterator[Path]:
    """Every Python file of the project, once: the links in cleanpipe/ are not followed."""
    for path in sorted(ROOT.rglob("*.py")):
        inside = path.relative_to(ROOT).parts
        linked = inside[0] == "cleanpipe" and inside[1] in PACKAGES
        if not SKIPPED & set(inside) and not linked:
            yield path


def imported(path: Path) -> set[str]:
    """The full names of all modules that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def test_there_are_sources() -> None:
    names = {str(path.relative_to(ROOT)) for path in sources()}
    assert {"cleanpipe/run.py", "filters/length.py", "dedup/exact.py"} <= names
    assert len(names) > 50


def test_no_bare_imports() -> None:
    for path in sources():
        roots = {name.partition(".")[0] for name in imported(path)}
        assert not roots & set(PACKAGES), path


def test_the_engine_finds_stages_by_discovery_only() -> None:
    for path in sources():
        inside = path.relative_to(ROOT)
        if inside.parts[0] == "cleanpipe" and str(inside) not in SHELL:
            for name in imported(path):
                assert not name.startswith(("cleanpipe.filters", "cleanpipe.dedup")), (path, name)
                assert name.rpartition("_")[2] != "cli" or inside.name == "cli.py", path


def test_filters_and_dedup_do_not_know_each_other_nor_the_run() -> None:
    """They import the engine's contracts, not what drives them."""
    drivers = (
        "run",
        "runner",
        "ray_runner",
        "tasks",
        "cli",
        "index_cli",
        "pipeline",
        "plan",
        "spec",
        "sinks",
    )
    for path in sources():
        part = path.relative_to(ROOT).parts[0]
        other = {"filters": "dedup", "dedup": "filters"}.get(part)
        if other:
            forbidden = [f"cleanpipe.{other}", *(f"cleanpipe.{name}" for name in drivers)]
            for name in imported(path):
                assert not any(name == f or name.startswith(f + ".") for f in forbidden), (
                    path,
                    name,
                )


def python(code: str, cwd: Path) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout.strip()


@pytest.mark.parametrize("folder", [".", "/"])
def test_one_identity(folder: str) -> None:
    """From the tree itself too, where a bare ``filters`` could be found."""
    code = (
        "import sys; from cleanpipe.registry import stages; found = stages()\n"
        "assert {c.__module__.split('.')[0] for c in found.values()} == {'cleanpipe'}\n"
        "print([n for n in sys.modules if n.split('.')[0] in ('filters', 'dedup', 'pipelines')])"
    )
    assert python(code, ROOT / folder) == "[]"


def test_importing_is_light() -> None:
    """No cluster or model library is loaded before it is needed."""
    code = (
        "import sys, cleanpipe, cleanpipe.cli\n"
        "heavy = {'ray', 'datasets', 'torch', 'fasttext', 'kenlm'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert python(code, ROOT) == "[]"
