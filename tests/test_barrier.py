"""The barrier: sketches by partition, verdicts that name survivors, an index of the kept."""

# ruff: noqa: E501 (rows of tables)
from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cleanpipe import ipc
from cleanpipe.barrier import pairs, resolving, sketches, verifying
from cleanpipe.barrier.rows import barrier_stages, partition_borders, save_bases
from cleanpipe.batch import DEAD, Batch, Records
from cleanpipe.bounds import Numbers
from cleanpipe.columns import Columns
from cleanpipe.dedup.resolve import DuplicateRule
from cleanpipe.job import Job
from cleanpipe.ledger import Record
from cleanpipe.parse import document_of
from cleanpipe.phase import PhaseRun
from cleanpipe.plan import load_plan
from cleanpipe.scratch import sketch_name
from cleanpipe.sinks import open_sink
from cleanpipe.stage import Rows, Sketch
from cleanpipe.stats import Stats
from cleanpipe.store import Store
from cleanpipe.tasks import (
    FetchTask,
    GroupTask,
    RequestTask,
    ResolveTask,
    SpoolTask,
    VerifyTask,
)
from cleanpipe.units import Units

from .stages_for_tests import registered
from .test_batch import batch_of


@dataclass(frozen=True)
class SameWord(DuplicateRule):
    """Two documents with a word in common are duplicates; of a long word more so."""

    kind: ClassVar[str] = "same_word"
    measure_name: ClassVar[str] = "word_length"
    payload: ClassVar[pa.Schema] = pa.schema([("words", pa.large_list(pa.large_string()))])

    def sketch(self, units: Units) -> Sketch:
        words = [sorted(set(text.split())) for text in units.strings]
        rows = []
        for unit, found in enumerate(words):
            whole = bucket(" ".join(found))
            rows += [(unit, bucket(word), whole, True) for word in found]
            rows += [(unit, whole, 0, False)] if found else []
        columns = zip(*rows, strict=True) if rows else ([], [], [], [])
        types = (pa.int64(), pa.uint64(), pa.uint64(), pa.bool_())
        arrays = [pa.array(list(c), t) for c, t in zip(columns, types, strict=True)]
        documents = {"unit": range(len(units)), "words": words}
        return Sketch(
            pa.Table.from_pydict(documents, pa.schema([("unit", pa.int64()), *self.payload])),
            pa.table(arrays, names=["unit", "bucket", "fingerprint", "compare"]),
        )

    def detail(self, payload: pa.Table, text: pa.LargeStringArray | None) -> pa.Array:
        assert text is not None
        words = payload["words"].to_pylist()
        assert words == [sorted(set(one.split())) for one in text.to_pylist()]
        return pa.array(words, self.payload.field("words").type)

    def verify(self, details: pa.Array, left: Rows, right: Rows) -> Numbers:
        words = [set(found) for found in details.to_pylist()]
        return np.array([alike(words[a], words[b]) for a, b in zip(left, right, strict=True)])


def alike(one: set[str], other: set[str]) -> float:
    """The longest word in common, a tenth a letter; nothing for words of one letter."""
    length = max(map(len, one & other), default=0)
    return length / 10 if length > 1 else np.nan


def bucket(word: str) -> int:
    return int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    registered(monkeypatch, SameWord)


def job_of(folder: Path, stages: Sequence[Any], partitions: int) -> Job:
    plan = load_plan(document_of({"stages": list(stages)}), ".")
    columns = Columns(pa.schema([]), {}, {})
    output, scratch = Store(str(folder / "out")), Store(str(folder / "scratch"))
    return Job(plan, columns, output, scratch, partitions, 100, "job")


def document(shard: int, texts: Sequence[str], first: int = 0) -> Batch:
    """Texts as rows of a file named like their shard."""
    size = len(texts)
    rows = range(first, first + size)
    return batch_of(
        texts,
        file=pa.array([f"file{shard}"] * size, pa.large_string()),
        row=pa.array(rows, pa.int64()),
        id=pa.array([f"{shard}:{row}" for row in rows], pa.large_string()),
    )


def cleaned(
    folder: Path,
    stages: Sequence[Any],
    shards: Sequence[Sequence[str]],
    partitions: int = 1,
    batch: int = 100,
) -> dict[str, Any]:
    """What phases and barrier make of texts: every output file, and the counts."""
    job = job_of(folder, stages, partitions)
    stats = Stats()
    sizes = []
    for shard, texts in enumerate(shards):
        record = Record(f"phase0-{shard:05d}", "job")
        phase = PhaseRun(job.plan.phases[0].steps, job.plan.measures, record.stats)
        with open_sink(job, 0, shard, record) as sink:
            for start in range(0, len(texts), batch):
                some = document(shard, texts[start : start + batch], start)
                record.stats.total.documents_in += len(some)
                sink.write(some, phase.run(some), DEAD.empty_table())
        sizes.append(record.data["documents"])
        stats.add(record.stats)
    save_bases(job, 0, sizes)
    barriers = barrier_stages(job, 0)
    every = range(partitions)
    compared = [place for place, stage in enumerate(barriers) if not stage.identity]
    tasks: list[Any] = [
        GroupTask(0, place, part) for place in range(len(barriers)) for part in every
    ]
    tasks += [RequestTask(0, place, part) for place in compared for part in every]
    tasks += [FetchTask(0, place, shard) for place in compared for shard in range(len(shards))]
    tasks += [VerifyTask(0, place, part) for place in compared for part in every]
    tasks += [ResolveTask(0), *(SpoolTask(1, shard) for shard in range(len(shards)))]
    clusters: list[dict[str, Any]] = []
    for task in tasks:
        record = Record(task.name, "job")
        task.run(job, record, lambda _: None)
        stats.add(record.stats)
        assert all(job.ledger.size(name) is not None for name in record.files)
        clusters += record.data.get("clusters", [])
    stats.check("all")
    return {
        "stats": stats,
        "clusters": clusters,
        "files": {
            str(path.relative_to(folder / "out")): path.read_bytes()
            for path in sorted((folder / "out").rglob("*.parquet"))
        },
        "kept": rows(folder, "kept"),
        "dropped": rows(folder, "dropped"),
        "index": {
            step.name: rows(folder, f"index/{step.name}") for step in job.plan.phases[0].barrier
        },
    }


def rows(folder: Path, kind: str) -> list[dict[str, Any]]:
    files = sorted((folder / "out" / kind).glob("*.parquet"))
    return [row for file in files for row in pq.read_table(file).to_pylist()]


SHARDS = [["one", "two", "one", ""], [], ["two", "three", "one", ""], ["four"]]


def test_duplicates_name_their_survivor(tmp_path: Path) -> None:
    made = cleaned(tmp_path, ["exact"], SHARDS)
    assert [row["id"] for row in made["kept"]] == ["0:0", "0:1", "0:3", "2:1", "3:0"]
    assert [
        (r["id"], r["survivor_id"], r["survivor_file"], r["survivor_row"]) for r in made["dropped"]
    ] == [
        ("0:2", "0:0", "file0", 0),
        ("2:0", "0:1", "file0", 1),
        ("2:2", "0:0", "file0", 0),
        ("2:3", "0:3", "file0", 3),
    ]
    for row in made["dropped"]:
        shown = (row["stage"], row["rule"], row["measure"], row["similarity"], row["survivor_run"])
        assert shown == ("exact", "exact", "exact", 1.0, None)
    counts = made["stats"].stages["exact"]
    assert (counts.documents_in, counts.judged, counts.dropped) == (9, 9, 4)
    assert made["stats"].losses == {"web": {"exact": [9, 4]}}


def test_the_index_has_the_survivors_alone(tmp_path: Path) -> None:
    made = cleaned(tmp_path, ["exact"], SHARDS)
    index = made["index"]["exact"]
    kept = {(row["cleanpipe"]["file"], row["cleanpipe"]["row"], row["id"]) for row in made["kept"]}
    assert {(row["file"], row["row"], row["id"]) for row in index} == kept
    assert len(index) == len(kept)
    assert len(list((tmp_path / "out/index/exact").iterdir())) == len(SHARDS)
    table = pq.read_table(tmp_path / "out/index/exact/part-00000.parquet")
    assert table.schema.names == ["file", "row", "id", "document", "digest"]


def test_the_dropped_are_no_survivors(tmp_path: Path) -> None:
    stages = [{"count": {"count": [None, 0]}, "when": {"column.x": None}}, "exact"]
    made = cleaned(tmp_path, stages, [["a", "b"], ["a", "b", "a"]])
    reasons = {row["id"]: (row["stage"], row["survivor_id"]) for row in made["dropped"]}
    assert reasons == {
        "0:0": ("count", None),
        "1:0": ("count", None),
        "1:1": ("exact", "0:1"),
        "1:2": ("count", None),
    }
    assert made["stats"].stages["exact"].documents_in == 2


def test_outside_when_nothing_is_dropped_and_nothing_survives_for_others(tmp_path: Path) -> None:
    stages = ["first", {"exact": {}, "when": {"first.size": [2, None]}}]
    made = cleaned(tmp_path, stages, [["a", "bb", "a"], ["bb", "a", "bb"]])
    assert [row["id"] for row in made["kept"]] == ["0:0", "0:1", "0:2", "1:1"]
    assert {row["survivor_id"] for row in made["dropped"]} == {"0:1"}
    assert {row["id"] for row in made["index"]["exact"]} == {"0:1"}
    counts = made["stats"].stages["exact"]
    assert (counts.documents_in, counts.judged, counts.dropped) == (6, 3, 2)


def test_rules_are_resolved_together(tmp_path: Path) -> None:
    # By the words alone "aa bb" would name "aa", and "bb cc" is kept since "aa bb" is not.
    texts = [["aa", "aa bb", "bb cc"], ["", "aa", ""]]
    made = cleaned(tmp_path, ["same_word", "exact"], texts)
    reasons = [(row["id"], row["stage"], row["survivor_id"]) for row in made["dropped"]]
    assert reasons == [
        ("0:1", "same_word", "0:0"),
        ("1:1", "same_word", "0:0"),
        ("1:2", "exact", "1:0"),
    ]
    assert [row["id"] for row in made["kept"]] == ["0:0", "0:2", "1:0"]
    # Equal pairs belong to the rule that stands first; in a second order it is the other.
    again = cleaned(tmp_path / "again", ["exact", "same_word"], texts)
    assert [row["stage"] for row in again["dropped"]] == ["same_word", "exact", "exact"]
    assert again["kept"] == made["kept"]


def test_the_same_share_their_fate(tmp_path: Path) -> None:
    made = cleaned(tmp_path, ["same_word"], [["aaa", "aaa bb"], ["bb aaa", "bb  aaa", "x"], ["x"]])
    reasons = [(r["id"], r["survivor_id"], r["similarity"]) for r in made["dropped"]]
    assert reasons == [
        ("0:1", "0:0", 0.3),
        ("1:0", "0:0", 0.3),
        ("1:1", "0:0", 0.3),
        ("2:0", "1:2", 1.0),
    ]


def test_no_documents(tmp_path: Path) -> None:
    made = cleaned(tmp_path, ["exact", "first"], [[], []], partitions=3)
    assert made["kept"] == made["dropped"] == []
    assert len(made["files"]) == 12  # every file of a shard exists all the same


WORDS = st.lists(st.sampled_from(["ab", "cd", "efg", "h", "ij"]), max_size=3).map(" ".join)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    shards=st.lists(st.lists(WORDS, max_size=5), min_size=1, max_size=3),
    partitions=st.integers(2, 9),
    batch=st.integers(1, 3),
)
def test_against_a_naive_reference(
    tmp_path_factory: pytest.TempPathFactory,
    shards: list[list[str]],
    partitions: int,
    batch: int,
) -> None:
    folder = tmp_path_factory.mktemp("barrier")
    made = cleaned(folder / "one", ["same_word"], shards)
    kept: list[tuple[str, set[str]]] = []
    expected: dict[str, tuple[str, float]] = {}
    first: dict[frozenset[str], str] = {}
    for shard, texts in enumerate(shards):
        for row, text in enumerate(texts):
            id, words = f"{shard}:{row}", set(text.split())
            same = first.setdefault(frozenset(words), id) if words else id
            if same != id:  # as its first fared
                expected[id] = expected.get(same, (same, 1.0))
                continue
            found = [
                (-alike(words, other), place)
                for place, (_, other) in enumerate(kept)
                if alike(words, other) > 0
            ]
            if found:
                similarity, place = min(found)
                expected[id] = (kept[place][0], -similarity)
            else:
                kept.append((id, words))
    named = {row["id"]: (row["survivor_id"], row["similarity"]) for row in made["dropped"]}
    assert named == expected
    assert [row["id"] for row in made["kept"]] == [id for id, _ in kept]
    # Neither partitions nor batches change a byte.
    assert (
        cleaned(folder / "two", ["same_word"], shards, partitions, batch)["files"] == made["files"]
    )


def test_windows_and_runs_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shards = [
        ["aa bb", "bb cc", "cc dd", "dd e"],
        ["e ff", "ff aa", "aa", "dd"],
        ["x", "cc", "aa bb"],
    ]
    whole = cleaned(tmp_path / "whole", ["same_word", "exact"], shards)
    for size in (1, 2, 5):
        monkeypatch.setattr(sketches, "RUN_ROWS", size)
        monkeypatch.setattr(pairs, "WINDOW_ROWS", size)
        monkeypatch.setattr(verifying, "TOGETHER", size)
        monkeypatch.setattr(resolving, "MERGED_ROWS", size)
        made = cleaned(tmp_path / str(size), ["same_word", "exact"], shards, 3, size)
        assert made["files"] == whole["files"]


def test_large_clusters_show_their_text(tmp_path: Path) -> None:
    texts = ["x", "some  word\n" + "y" * 300, *(f"word {n}" for n in range(10))]
    [cluster] = cleaned(tmp_path, ["same_word"], [["q"], texts], batch=4)["clusters"]
    assert cluster["documents"] == 10
    assert cluster["text"] == ("some word " + "y" * 300)[:200]


def test_the_largest_clusters(tmp_path: Path) -> None:
    made = cleaned(tmp_path, ["same_word"], [["aa", "bb", "aa x"], ["aa", "bb y", "aa z", "q"]])
    assert made["clusters"] == [
        {
            "survivor": {"file": "file0", "row": 0, "id": "0:0"},
            "documents": 3,
            "text": None,
            "similarity": [0.2, 1.0],
            "stages": ["same_word"],
        },
        {
            "survivor": {"file": "file0", "row": 1, "id": "0:1"},
            "documents": 1,
            "text": None,
            "similarity": [0.2, 0.2],
            "stages": ["same_word"],
        },
    ]


@pytest.mark.parametrize("partitions", [1, 2, 3, 7, 64, 1000])
def test_partitions_share_the_buckets_evenly(partitions: int) -> None:
    borders = partition_borders(partitions)
    assert borders.dtype == np.uint64
    assert len(borders) == partitions - 1
    edges = [0, *map(int, borders), 2**64]
    widths = [end - start for start, end in zip(edges, edges[1:], strict=False)]
    assert min(widths) == 2**64 // partitions
    assert max(widths) - min(widths) < partitions


@pytest.mark.parametrize("partitions", [1, 4])
def test_each_partition_of_a_sketch_is_one_batch(tmp_path: Path, partitions: int) -> None:
    job = job_of(tmp_path, ["same_word"], partitions)
    record = Record("t", "job")
    texts = [f"w{number % 7} v{number % 3}" for number in range(40)]
    with open_sink(job, 0, 0, record) as sink:
        for start in (0, 25):
            some = document(0, texts[start : start + 25], start)
            some.alive[3] = False
            some.drops[3] = None  # type: ignore[assignment]
            sink.write(some, Records(), DEAD.empty_table())
    parts = list(ipc.batches(job.scratch, sketch_name(0, 0, 0)))
    assert len(parts) == partitions
    table = pa.Table.from_batches(parts)
    buckets = table["bucket"].to_pylist()
    assert buckets == sorted(buckets)
    living = [number for number in range(40) if number not in (3, 28)]
    found = table.to_pylist()
    # Each says what it is the same as; of the same ones the first is compared for all.
    assert sorted(row["document"] for row in found if not row["compare"]) == living
    first = {texts[number]: number for number in reversed(living)}
    assert sorted((row["document"], row["bucket"]) for row in found if row["compare"]) == sorted(
        (number, bucket(word)) for text, number in first.items() for word in text.split()
    )
    edges = [0, *map(int, partition_borders(partitions)), 2**64]
    for part, low, high in zip(parts, edges, edges[1:], strict=False):
        assert all(low <= value < high for value in part["bucket"].to_pylist())


def test_the_extreme_buckets_have_a_partition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extremes = {"low": 0, "high": 2**64 - 1, "middle": 2**63, "under": 2**63 - 1}
    monkeypatch.setitem(globals(), "bucket", extremes.__getitem__)
    texts = [*extremes, *extremes]
    made = cleaned(tmp_path, ["same_word"], [texts], partitions=2)
    assert [row["id"] for row in made["kept"]] == ["0:0", "0:1", "0:2", "0:3"]
