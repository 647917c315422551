"""Corpora made from the sample that ships with the project, and the command line in-process."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from cleanpipe import cli

from .jobs import SAMPLE, jsonl, pipeline, run


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


Cli = Callable[..., Ended]


def sample_documents() -> list[dict[str, Any]]:
    """Real documents in sixty languages: help, navigation, declarations; some are equal."""
    found = []
    for name, text, id in (
        ("help.jsonl.zst", "text", "id"),
        ("pages.jsonl", "content", "url"),
        ("declarations.jsonl.gz", "text", "id"),
    ):
        with pa.input_stream(str(SAMPLE / name), compression="detect") as file:
            for line in file.read().split(b"\n"):
                try:
                    row = json.loads(line)
                except ValueError:
                    continue
                if row[text] is not None:
                    found.append({"id": f"{name}/{row[id]}", "text": row[text], "from": name})
    return found


@pytest.fixture(scope="session")
def documents() -> list[dict[str, Any]]:
    """See :func:`sample_documents`."""
    return sample_documents()


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory, documents: list[dict[str, Any]]) -> Path:
    """One plain JSON-lines file of the documents (2 MB), 60 of them twice, with blank lines, a
    broken line and a null text."""
    lines: list[Any] = [*documents, *documents[100:160]]
    lines.insert(700, "")
    lines.insert(500, '{"id": "broken", "text": "cut he')
    lines.insert(300, {"id": "null", "text": None})
    lines[200:200] = ["", "   "]
    return jsonl(tmp_path_factory.mktemp("corpus") / "corpus.jsonl", lines)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, documents: list[dict[str, Any]]) -> Path:
    """A folder with ``pipeline.yaml`` over 40 shards that take some seconds, and ``out``, which a
    run that nothing disturbed has left."""
    folder = tmp_path_factory.mktemp("undisturbed")
    several = [
        {**row, "id": f"{row['id']} {number}", "text": f"{row['text']}\n{number}."}
        for number in range(4)
        for row in documents
    ]
    lines = [*several, "", "{", *several[50:150]]
    jsonl(folder / "corpus.jsonl", lines)
    path = pipeline(folder, {"docs": {"paths": "corpus.jsonl"}}, shard_bytes="200KB")
    run(path)
    return folder


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Cli]:
    """Runs the command line in this process: ``clean("run", path, ...)``."""

    def call(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["cleanpipe", *map(str, arguments)])
        monkeypatch.setattr(cli, "_debug", False)
        capfd.readouterr()
        code: Any = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        out, err = capfd.readouterr()
        return Ended(int(code), out, err)

    handler = signal.getsignal(signal.SIGTERM)
    yield call
    signal.signal(signal.SIGTERM, handler)
