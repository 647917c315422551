"""Every command, pipeline and Python example in the documents is run, in the order it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from ..kenlm_programs import kenlm_programs

ROOT = Path(__file__).parents[2]
TRAINING = "docs/how-to/lmplz.md"
DOCUMENTS = [
    "README.md",
    "docs/pipeline-file.md",
    "docs/near-duplicates.md",
    "docs/contamination.md",
    "docs/signatures.md",
    "docs/benchmarks.md",
    "docs/how-to/incremental.md",
    TRAINING,
    "docs/how-to/native.md",
    "docs/how-to/ray.md",
    "docs/how-to/what-each-rule-drops.md",
]
FILES = {
    "lists/spam.txt": "spam\n",
    "lists/rude/one.txt": "rude\n",
    "lists/ok.txt": "fine\n",
    "lists/fine.txt": "fine.com\n",
    "site_lines.jsonl": '{"host": "a.com", "lines": ["Share this page"], "phrases": ["log in"]}\n',
    "ut1/adult/domains": "bad.com\n",
    "ut1/gambling/urls": "good.com/~bad\n",
}
"""What pipelines in the documents read."""
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(document: str) -> Iterator[tuple[str, str]]:
    for found in FENCE.finditer((ROOT / document).read_text(encoding="utf-8")):
        yield found[1], found[2]


def run(command: list[str] | str, folder: Path) -> str:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        shell=isinstance(command, str),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def command_lines(block: str) -> Iterator[str]:
    for line in block.splitlines():
        if line.strip() and not line.startswith("#"):
            yield line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory with the sample, the README's pipeline file, and lists."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for language, block in blocks("README.md"):
        if language == "yaml" and "sources" in YAML(typ="safe").load(block):
            (tmp_path / "pipeline.yaml").write_text(block, encoding="utf-8")
    return tmp_path


def run_line(line: str, folder: Path) -> str:
    words = line.split()
    if words[0] == "make":
        targets = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert all(f"\n{target}:" in targets for target in words[1:]), line
        return ""
    assert words[0] == "cleanpipe", f"a test does not know how to run: {line}"
    return run(f"{sys.executable} -m {line}", folder)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands(document: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if document == TRAINING:
        monkeypatch.setenv("PATH", f"{kenlm_programs()}:{os.environ['PATH']}")
    ran = 0
    for language, block in blocks(document):
        if language == "yaml":
            tree = YAML(typ="safe").load(block)
            if "tests" in tree:  # what the document builds an index of
                (folder / "tests.yaml").write_text(block, encoding="utf-8")
                continue
            path = folder / ("pipeline.yaml" if "sources" in tree else "fragment.yaml")
            path.write_text(block, encoding="utf-8")
            run_line(f"cleanpipe check {path.name} --input examples/sample/help.jsonl.zst", folder)
        elif language == "sh":
            for line in command_lines(block):
                run_line(line, folder)
                ran += 1
        elif language == "python":
            assert run([sys.executable, "-c", block], folder)
            ran += 1
    assert ran


def test_every_document_with_commands_is_listed() -> None:
    found = {
        str(path.relative_to(ROOT))
        for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
        if any(language == "sh" for language, _ in blocks(str(path.relative_to(ROOT))))
    }
    assert found <= set(DOCUMENTS), "a document has commands that no test runs"


def test_every_stage_and_command_of_the_readme_exists(folder: Path) -> None:
    listed = re.findall(r"^\| `cleanpipe (\w+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    shown = run_line("cleanpipe --help", folder)
    assert listed
    assert all(re.search(rf"\b{command}\b", shown) for command in listed)
