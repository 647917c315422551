"""Several barriers in one run: corpus rewriters, then the rules for duplicates."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from cleanpipe.explain import explain

from ..jobs import (
    call,
    committed,
    content,
    jsonl,
    parts,
    pipeline,
    rows,
    run,
    start,
    summary,
    temporary_files,
    verdicts,
    wait_for,
)

STAGES: list[Any] = [
    {"remove": {"unit": "line", "failing": [{"symbols": {"symbol_share": [None, 0.5]}}]}},
    {"paragraphs": {"min_tokens": 5}},
    {
        "paragraphs": {"unit": "line", "min_tokens": 8},
        "name": "lines",
        "when": {"tokens": [9, None]},
    },
    {"rule": {"measure": "lines.removed_share", "max": 0.5}},
    "exact",
    "language",
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, documents: list[dict[str, Any]]) -> Path:
    folder = tmp_path_factory.mktemp("several")
    again = [{**row, "id": f"{row['id']} again"} for row in documents[200:300]]
    closing = "Read more about this and other things on our pages: {}"
    some = [
        {**row, "text": f"{row['text']}\n\n{closing.format(place)}\n$ $ $"}
        for place, row in enumerate([*documents[:600], *again])
    ]
    jsonl(folder / "corpus.jsonl", [*some, "", "{"])
    run(pipeline(folder, {"docs": {"paths": "corpus.jsonl"}}, STAGES, shard_bytes="100KB"))
    return folder


def same(output: Path, finished: Path) -> None:
    assert content(output) == content(finished / "out")
    assert summary(output) == summary(finished / "out")
    assert not temporary_files(output) and not (output / "_run" / "scratch").exists()


def test_what_is_on_disk(finished: Path) -> None:
    out = finished / "out"
    made = summary(out)
    counts = {stage["name"]: stage for stage in made["stages"]}
    assert list(counts) == ["remove", "paragraphs", "lines", "rule", "exact", "language"]
    edits = rows(out, "edits")
    for name in ("remove", "paragraphs", "lines"):
        mine = sum(edit["stage"] == name for edit in edits)
        assert counts[name]["units_removed"] == mine > 0
    assert sum(stage["dropped"] for stage in counts.values()) == made["documents"]["dropped"]
    assert counts["paragraphs"]["in"] == made["documents"]["in"] - 1  # one is dead
    for stage, after in (("paragraphs", "lines"), ("lines", "rule"), ("rule", "exact")):
        assert counts[after]["in"] == counts[stage]["in"] - counts[stage]["dropped"]
    # Edits of a document are in the order they were made, documents in theirs.
    order = [step["name"] for step in made["stages"]]
    for table in parts(out, "edits").values():
        keys = [(r["row"], order.index(r["stage"]), r["start"]) for r in table.to_pylist()]
        assert keys == sorted(keys)
    assert len({edit["row"] for edit in edits if edit["stage"] == "remove"}) > 600
    assert sorted(path.name for path in (out / "index").iterdir()) == ["exact"]


def test_explained_from_what_is_stored(finished: Path) -> None:
    out = finished / "out"
    stored = rows(out, "edits")
    seen = set()
    for place, (file, row) in enumerate(sorted(verdicts(out))):
        if place % 23:
            continue
        made = explain(str(out), f"{file}:{row}")
        assert made.agrees, made.differences
        assert made.edits == [edit for edit in stored if edit["row"] == row]
        seen |= {edit["stage"] for edit in made.edits}
    assert seen == {"remove", "paragraphs", "lines"}


def test_sigkill_at_random_moments(tmp_path: Path, finished: Path) -> None:
    out, chance = tmp_path / "out", random.Random(5)
    total = len(committed(finished / "out"))
    command = ("run", finished / "pipeline.yaml", "--output", out, "--runner", "inline")
    killed = 0
    for share in (0.3, 0.5, 0.8):
        process = start(*command, log=tmp_path / "log")
        wait_for(lambda: len(committed(out)) >= share * total or process.poll() is not None)  # noqa: B023
        time.sleep(chance.uniform(0, 0.05))
        process.kill()
        killed += process.wait() == -signal.SIGKILL
    assert killed >= 2
    ended = call(*command)
    assert ended.returncode == 0, ended.stderr
    same(out, finished)


def test_on_ray(tmp_path: Path, finished: Path) -> None:
    run(finished / "pipeline.yaml", tmp_path / "out", runner="ray", workers=2)
    same(tmp_path / "out", finished)


def test_shards_change_no_verdict(tmp_path: Path, finished: Path) -> None:
    run(finished / "pipeline.yaml", tmp_path / "out", "shard_bytes=20KB", "run.batch_bytes=2KB")
    for folder in ("kept", "dropped", "edits", "measures"):
        assert rows(tmp_path / "out", folder) == rows(finished / "out", folder)
