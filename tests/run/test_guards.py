"""Guards: losses that nobody is likely to want stop a run before it is marked complete."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cleanpipe import ChangedError, GuardError, Pipeline
from cleanpipe.guards import alarms
from cleanpipe.stats import Counts, Stats

from ..conftest import Cli
from ..jobs import LENGTH, content, parts, pipeline, run, summary


@pytest.fixture
def deadly(tmp_path: Path) -> Path:
    """200 documents and 101 null texts."""
    texts: list[str | None] = [*["one two three"] * 200, *[None] * 101]
    pq.write_table(pa.table({"text": texts}), tmp_path / "a.parquet")
    return pipeline(tmp_path, {"s": {"paths": "a.parquet"}}, LENGTH)


def test_dead_records_stop_a_run(deadly: Path, clean: Cli) -> None:
    ended = clean("run", deadly)
    assert ended.code == 1
    assert "101 of 301 records could not be read: see dead/" in ended.err
    assert "--set guards=warn --fresh" in ended.err and "Traceback" not in ended.err
    out = deadly.parent / "out"
    assert not (out / "summary.json").exists()
    assert sum(map(len, parts(out, "dead").values())) == 101
    assert clean("run", deadly).code == 1  # the same command says it again


def test_warn_passes_and_says_so(deadly: Path, clean: Cli) -> None:
    with pytest.raises(GuardError):
        run(deadly)
    before = content(deadly.parent / "out")
    with pytest.raises(ChangedError, match="guards: was"):
        run(deadly, None, "guards=warn")
    ended = clean("run", deadly, "--set", "guards=warn", "--fresh")
    assert ended.code == 0 and "warning: 101 of 301 records" in ended.err
    assert content(deadly.parent / "out") == before
    assert summary(deadly.parent / "out")["documents"]["dead"] == 101


def test_off_is_silent(deadly: Path, clean: Cli) -> None:
    ended = clean("run", deadly, "--set", "guards=off", "--quiet")
    assert (ended.code, ended.err, ended.out) == (0, "", "")


def test_a_hundred_are_let_pass(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["one two three", *[None] * 100]}), tmp_path / "a.parquet")
    run(pipeline(tmp_path, {"s": {"paths": "a.parquet"}}, LENGTH))


def test_a_source_that_loses_nearly_all(tmp_path: Path) -> None:
    """10,000 documents of one source, 91 % of them too short; the other source is fine."""
    short = ["one two three"] * 900 + ["one"] * 9100
    pq.write_table(pa.table({"text": short}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"text": ["one two three"] * 9000}), tmp_path / "b.parquet")
    sources = {"bad": {"paths": "a.parquet"}, "good": {"paths": "b.parquet"}}
    path = pipeline(tmp_path, sources, LENGTH)
    with pytest.raises(GuardError, match='source "bad" loses 9100 of 10000 documents in "length"'):
        run(path)
    with pytest.raises(GuardError):  # resuming gives no way round it
        run(path)


def test_duplicates_count_too(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["one two three"] * 10_000}), tmp_path / "a.parquet")
    path = pipeline(tmp_path, {"s": {"paths": "a.parquet"}}, [{"exact": {}}])
    with pytest.raises(GuardError, match='loses 9999 of 10000 documents in "exact"'):
        run(path)


def test_in_memory_data_is_warned_about_only(capfd: pytest.CaptureFixture[str]) -> None:
    texts: list[Any] = ["one two three", *[None] * 101]
    result = Pipeline.from_dict({"stages": LENGTH}).run(texts)
    assert result.summary["documents"]["dead"] == 101
    assert "warning: 101 of 102 records could not be read" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("dead", "documents", "alarm"),
    [
        (100, 100, False),
        (101, 101, True),
        (101, 101_000, False),  # 0.1 % exactly
        (102, 101_999, True),
    ],
)
def test_limits_of_dead_records(dead: int, documents: int, alarm: bool) -> None:
    assert bool(alarms(Stats(total=Counts(documents_in=documents, dead=dead)))) is alarm


@pytest.mark.parametrize(
    ("reached", "lost", "alarm"),
    [(9_999, 9_999, False), (10_000, 9_000, False), (10_000, 9_001, True)],
)
def test_limits_of_losses(reached: int, lost: int, alarm: bool) -> None:
    stats = Stats()
    stats.lose("s", "length", reached, lost)
    assert bool(alarms(stats)) is alarm
