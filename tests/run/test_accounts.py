"""in = kept + dropped + dead, per shard and in total, or the run fails; counts merge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from cleanpipe import AccountError
from cleanpipe.stats import Counts, Stats, summary
from cleanpipe.writers import PartWriter

from ..conftest import Cli
from ..jobs import STAGES, pipeline, run


def stats(kept: int = 3, dropped: int = 2, dead: int = 1) -> Stats:
    made = Stats(total=Counts(kept + dropped + dead, kept, dropped, dead, 60, 30, 20, 12, 6, 4))
    made.stage("length").dropped = dropped
    made.stage("length").documents_in = kept + dropped
    made.source["web"] = Counts(documents_in=kept + dropped + dead, kept=kept)
    made.language["en"] = Counts(documents_in=kept)
    made.lose("web", "length", kept + dropped, dropped)
    return made


def test_what_adds_up_passes() -> None:
    stats().check("shard 00000")


@pytest.mark.parametrize(("name", "by"), [("kept", -1), ("dropped", 1), ("dead", 1)])
def test_what_does_not_add_up_is_an_error(name: str, by: int) -> None:
    made = stats()
    setattr(made.total, name, getattr(made.total, name) + by)
    with pytest.raises(AccountError, match="shard 00000: 6 documents in, but"):
        made.check("shard 00000")


def test_a_drop_without_a_stage_is_an_error() -> None:
    made = stats()
    made.stage("length").dropped -= 1
    with pytest.raises(AccountError, match="2 dropped .1 by stages."):
        made.check("the run")


def test_counts_merge_in_any_order_and_survive_json() -> None:
    one, two, three = stats(1, 2, 3), stats(4, 5, 6), stats(7, 8, 9)
    left, right = Stats(), Stats()
    for part in (one, two, three):
        left.add(part)
    for part in (three, Stats.from_json(json.loads(json.dumps(two.to_json()))), one):
        right.add(part)
    assert left == right
    left.check("the run")
    assert left.losses == {"web": {"length": [27, 15]}}
    assert Stats.from_json(json.loads(json.dumps(left.to_json()))) == left


def test_summary_shape() -> None:
    made = summary(stats(), ["length", "exact"], [], "abc", 1.23456)
    assert made["documents"] == {"in": 6, "kept": 3, "dropped": 2, "dead": 1}
    assert made["bytes"] == {"in": 60, "kept": 30, "dropped": 20, "removed": 10}
    assert made["tokens"] == {"in": 12, "kept": 6, "dropped": 4, "removed": 2}
    assert [stage["name"] for stage in made["stages"]] == ["length", "exact"]
    assert made["by"]["source"]["web"]["in"] == 6 and made["by"]["language"]["en"]["in"] == 3
    assert (made["seconds"], made["plan"]) == (1.235, "abc")


def test_a_lost_document_fails_the_run(
    tmp_path: Path, corpus: Path, clean: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A defect that loses one document in one shard is found, not passed on."""
    from cleanpipe import sinks

    tally = sinks.tally

    def forgetful(found: Stats, batch: Any, language: Any) -> None:
        tally(found, batch, language)
        if "docs-7" not in found.source:
            found.total.kept -= 1

    path = pipeline(tmp_path, {"docs": {"paths": str(corpus)}}, STAGES, shard_bytes="500KB")
    monkeypatch.setattr(sinks, "tally", forgetful)
    ended = clean("run", path)
    assert ended.code == 1 and "shard 00000:" in ended.err and "documents in, but" in ended.err
    assert not (tmp_path / "out" / "summary.json").exists()


def test_a_task_that_fails_leaves_no_file_behind(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = PartWriter.write
    calls = []

    def full(self: PartWriter, table: pa.Table) -> None:
        calls.append(1)
        if len(calls) > 12:
            raise OSError(28, "No space left on device")
        write(self, table)

    path = pipeline(tmp_path, {"docs": {"paths": str(corpus)}}, STAGES, shard_bytes="500KB")
    with monkeypatch.context() as patch:
        patch.setattr(PartWriter, "write", full)
        with pytest.raises(OSError, match="No space left"):
            run(path)
    out = tmp_path / "out"
    assert not list(out.rglob(".tmp-*")) and not (out / "summary.json").exists()
    assert run(path).summary["documents"]["in"] > 800
