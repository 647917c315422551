"""A phase over a batch: measures, verdicts, reasons, edits."""

# ruff: noqa: E501 (rows of tables)
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from cleanpipe.batch import EDITS, Batch
from cleanpipe.edits import EDIT_TEXT_BYTES, apply_edits
from cleanpipe.errors import ConfigError, StageError
from cleanpipe.parse import document_of
from cleanpipe.phase import Judged, PhaseRun, blamed
from cleanpipe.plan import load_plan
from cleanpipe.spec import Step
from cleanpipe.stage import Edits
from cleanpipe.stats import Stats

from .stages_for_tests import First, registered
from .test_batch import batch_of

TEXT = pa.large_string()


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    registered(monkeypatch)
    First.seen.clear()


class Ran:
    """What stages made of texts."""

    def __init__(self, batch: Batch, edits: pa.Table, stats: Stats, judged: list[Judged]) -> None:
        self.batch, self.edits, self.stats, self.judged = batch, edits, stats, judged

    @property
    def reasons(self) -> list[str | None]:
        drops = [self.batch.drops.get(row) for row in range(len(self.batch))]
        assert [drop is None for drop in drops] == self.batch.alive.tolist()
        return [None if drop is None else f"{drop.stage}.{drop.rule}" for drop in drops]

    @property
    def also(self) -> dict[int, list[str]]:
        return {row: drop.also_failed for row, drop in sorted(self.batch.drops.items())}

    def measure(self, name: str) -> list[Any]:
        value = self.batch.measures[name]
        if isinstance(value, np.ndarray):
            return [None if number != number else number for number in value.tolist()]
        return list(value.to_pylist())


def ran(
    stages: Sequence[Any],
    texts: Sequence[str],
    columns: dict[str, pa.Array] | None = None,
    **more: Any,
) -> Ran:
    plan = load_plan(document_of({"stages": list(stages)}), ".")
    table = None if columns is None else pa.RecordBatch.from_pydict(columns)
    batch = batch_of(texts, table, **more)
    stats = Stats()
    judged: list[Judged] = []
    run = PhaseRun(plan.phases[0].steps, plan.measures, stats, judged.append)
    edits = run.run(batch).edits
    assert edits.schema == EDITS
    return Ran(batch, edits, stats, judged)


def test_the_first_failing_stage_is_the_reason() -> None:
    made = ran(
        [
            {"count": {"count": [1, None]}, "name": "one"},
            {"count": {"count": [None, 2], "capitals": [None, 0]}, "name": "two"},
            {"count": {"letter": "b", "count": [2, None]}, "name": "three"},
        ],
        ["abb", "", "aaabb", "AAaaa", "bb", "aA"],
    )
    assert made.reasons == [
        None,
        "one.count",
        "two.count",
        "two.count",
        "one.count",
        "two.capitals",
    ]
    assert made.also == {
        1: ["three.count"],
        2: [],
        3: ["two.capitals", "three.count"],
        4: [],
        5: ["three.count"],
    }
    drop = made.batch.drops[2]
    assert (drop.measure, drop.value, drop.bound) == ("two.count", 3.0, "<= 2")
    counts = {name: (c.documents_in, c.judged, c.dropped) for name, c in made.stats.stages.items()}
    assert counts == {"one": (6, 6, 2), "two": (4, 4, 3), "three": (1, 1, 0)}
    assert made.stats.losses == {"web": {"one": [6, 2], "two": [4, 3], "three": [1, 0]}}


def test_measures_are_stored_for_kept_and_dropped_alike() -> None:
    made = ran(["first", {"count": {"count": [1, None]}}, {"rule": {"measure": "tokens"} | {"min": 1}}],
               ["a b", "", "bb"])  # fmt: skip
    assert made.measure("count.count") == [1, 0, 0]
    assert made.measure("first.language") == ["a", "und", "b"]
    assert made.measure("first.size") == [3, None, 2]
    assert made.measure("rule.tokens") == [2, 0, 1]


def test_surface_rules_are_judged_up_to_the_next_rewriter() -> None:
    made = ran(
        [
            {"count": {"count": [1, None]}},
            {"rule": {"measure": "characters", "min": 2}, "name": "size"},
            "cut",
            {"rule": {"measure": "characters", "min": 9}, "name": "after"},
        ],
        ["a", "", "axxxxxxxxxx", "b"],
    )
    assert made.reasons == ["size.characters", "count.count", "after.characters", "count.count"]
    # Nothing is said of what came after the rewriter.
    assert made.also == {0: [], 1: ["size.characters"], 2: [], 3: ["size.characters"]}
    assert made.measure("after.characters") == [None, None, 1, None]


def test_the_dropped_meet_no_model_and_no_rewriter() -> None:
    made = ran(
        [{"count": {"count": [1, None]}}, {"first": {"keep": ["a"]}}, "cut"],
        ["ax", "bx", "xa", "bxa"],
    )
    assert First.seen == ["ax", "xa", "bxa"]
    assert made.reasons == [None, "count.count", "first.keep", "first.keep"]
    assert made.also[1] == []
    assert made.measure("first.language") == ["a", None, "x", "b"]
    assert made.batch.text.to_pylist() == ["a", "bx", "xa", "bxa"]
    assert made.measure("cut.cuts") == [1, None, None, None]
    drop = made.batch.drops[2]
    assert (drop.measure, drop.value, drop.bound) == ("first.language", None, "in a")


def test_a_model_of_no_document_is_not_run() -> None:
    made = ran([{"count": {"count": [9, None]}}, "first", "cut"], ["a", "b"])
    assert First.seen == []
    assert made.measure("count.count") == [1, 0]
    assert (
        "first.language" not in made.batch.measures or made.measure("first.language") == [None] * 2
    )


def test_when_chooses_documents_the_dropped_included() -> None:
    made = ran(
        [
            {"count": {"count": [1, None]}},
            {"count": {"letter": "b", "count": [1, None]}, "name": "b", "when": {"source": "web"}},
            {"count": {"letter": "c", "count": [1, None]}, "name": "c",
             "when": {"column.year": [2000, None], "count.count": [1, None]}},
        ],
        ["a", "", "", "abc", "ab"],
        {"year": pa.array([2001, 2001, 2001, 2001, None])},
        source=pa.array(["web", "web", "books", "web", "web"], TEXT),
    )  # fmt: skip
    assert made.reasons == ["b.count", "count.count", "count.count", None, None]
    assert made.also == {0: ["c.count"], 1: ["b.count"], 2: []}
    assert made.measure("b.count") == [0, 0, None, 1, 1]
    assert made.measure("c.count") == [0, None, None, 1, None]
    counts = {name: (c.documents_in, c.judged) for name, c in made.stats.stages.items()}
    assert counts == {"count": (5, 5), "b": (3, 3), "c": (2, 1)}
    assert made.stats.losses["books"] == {"count": [1, 1], "b": [0, 0], "c": [0, 0]}


CASES = {
    "a": {"count": [2, None]},
    "b": {"letter": "b", "count": [None, 1]},
    "und": {"count": [1, 9]},
}


@pytest.mark.parametrize(
    ("otherwise", "last"),
    [
        ("keep", [None, None]),
        ("drop", ["count.else", "count.else"]),
        ({"letter": "q", "count": [1, None]}, ["count.count", None]),
    ],
)
def test_per_and_else(otherwise: Any, last: list[str | None]) -> None:
    labels = pa.array(["a", "a", "b", "b", "und", None, "c"], TEXT)
    made = ran(
        [{"count": {"per": "column.lang", "cases": CASES, "else": otherwise}}],
        ["aa", "a", "b", "bb", "x", "zz", "zq"],
        {"lang": labels},
    )
    assert made.reasons[:5] == [None, "count.count", None, "count.count", "count.count"]
    assert made.reasons[5:] == last
    if otherwise == "drop":
        drops = [made.batch.drops[row] for row in (5, 6)]
        assert [drop.match for drop in drops] == [None, "c"]
        assert {drop.bound for drop in drops} == {"in a, b, und"}
        assert {drop.measure for drop in drops} == {"column.lang"}
    assert made.measure("count.count")[:5] == [2, 1, 1, 2, 0]
    assert made.measure("count.count")[5:] == (
        [0, 1] if isinstance(otherwise, dict) else [None] * 2
    )


def test_else_drop_of_what_is_dropped_already() -> None:
    made = ran(
        [
            {"count": {"count": [1, None]}},
            {"count": {"per": "source", "cases": {"books": {}}, "else": "drop"}, "name": "which"},
        ],
        ["a", "b"],
    )
    assert made.reasons == ["which.else", "count.count"]
    assert made.also == {0: [], 1: ["which.else"]}
    assert [(c.dropped, c.documents_in) for c in made.stats.stages.values()] == [(1, 2), (1, 1)]


@pytest.mark.parametrize("kind", [pa.int32(), pa.string(), pa.decimal128(9, 0)])
def test_per_a_column_of_any_type(kind: pa.DataType) -> None:
    made = ran(
        [{"count": {"per": "column.n", "cases": {"7": {"count": [1, None]}}, "else": "keep"}}],
        ["", "", "a"],
        {"n": pa.array([7, 8, 7]).cast(pa.int32()).cast(kind) if kind != pa.decimal128(9, 0)
         else pa.array([7, 8, 7], pa.int32()).cast(pa.decimal128(10, 0))},
    )  # fmt: skip
    assert made.reasons == ["count.count", None, None]


def test_evidence_is_asked_for_the_newly_rejected_only() -> None:
    made = ran(
        [
            {"count": {"letter": "é", "count": [None, 0]}},
            {"count": {"letter": "b", "count": [None, 0]}, "name": "b"},
        ],
        ["日é b", "b", "", "éé"],
    )
    shown = {row: (d.match, d.match_start, d.match_end) for row, d in made.batch.drops.items()}
    assert shown == {0: ("é", 3, None), 1: ("b", 0, None), 3: ("é", 0, None)}
    assert made.also[0] == ["b.count"]


def test_rewriting() -> None:
    made = ran(
        ["cut", {"cut": {"letter": "é", "put": "日日"}, "name": "put"}, {"count": {"count": [1, 1]}}],
        ["axé", "a", "xx", "éa", ""],
    )  # fmt: skip
    assert made.batch.text.to_pylist() == ["a日日", "a", "", "日日a", ""]
    assert made.reasons == [None, None, "cut.empty", None, "count.count"]
    assert made.measure("cut.cuts") == [1, 0, 2, 0, 0]
    assert made.measure("put.cuts") == [1, 0, None, 1, 0]
    # The hash of each version a rewriter made, null where it changed nothing.
    digest = xxhash.xxh3_128_digest
    assert made.measure("cut.text_hash") == ["aé".encode() and digest("aé".encode()), None,
                                             digest(b""), None, None]  # fmt: skip
    assert made.measure("put.text_hash") == [
        digest("a日日".encode()), None, None, digest("日日a".encode()), None,
    ]  # fmt: skip
    rows = made.edits.to_pylist()
    shown = [
        (r["row"], r["stage"], r["start"], r["end"], r["text"], r["replacement"]) for r in rows
    ]
    assert shown == [
        (0, "cut", 1, 2, "x", None),
        (0, "put", 1, 3, "é", "日日"),
        (2, "cut", 0, 1, "x", None),
        (2, "cut", 1, 2, "x", None),
        (3, "put", 0, 2, "é", "日日"),
    ]
    assert rows[0] | {"id": "id0", "file": "f", "rule": "letter", "measure": "cuts", "value": None,
                      "bound": "no letter"} == rows[0]  # fmt: skip
    removed = {name: counts.units_removed for name, counts in made.stats.stages.items()}
    assert removed == {"cut": 3, "put": 2, "count": 0}
    assert made.stats.stages["cut"].dropped == 1


def test_an_edit_shows_whole_characters_of_its_text() -> None:
    letter = "é日" * EDIT_TEXT_BYTES
    made = ran([{"cut": {"letter": letter}}], [f"a{letter}b"])
    (row,) = made.edits.to_pylist()
    assert letter.startswith(row["text"])
    assert EDIT_TEXT_BYTES - 3 <= len(row["text"].encode()) <= EDIT_TEXT_BYTES
    assert row["end"] - row["start"] == len(letter.encode())


def test_what_is_told_of_judgements() -> None:
    made = ran(
        [
            "first",
            {"count": {"count": [1, None], "capitals": [None, 0]}, "when": {"language": "a"}},
        ],
        ["a", "bA", "aA"],
    )
    assert [judged.step.name for judged in made.judged] == ["first", "count"]
    assert made.judged[0].failures == ()
    assert made.judged[1].rows.tolist() == [0, 2]
    assert [flags.tolist() for flags in made.judged[1].failures] == [[False, False], [False, True]]


def test_no_documents_at_all() -> None:
    made = ran(["first", {"count": {"count": [1, 2]}}, "cut"], [])
    assert made.reasons == []
    assert len(made.edits) == 0


@given(st.lists(st.text("axXbéA", max_size=6), max_size=12), st.data())
def test_splitting_a_batch_changes_nothing(texts: list[str], data: st.DataObject) -> None:
    stages = [
        "first",
        {"count": {"count": [None, 2], "capitals": [None, 1]}, "when": {"language": {"not": "b"}}},
        {"cut": {"letter": "x"}},
        {
            "count": {"per": "language", "cases": {"a": {"count": [1, 9]}}, "else": "keep"},
            "name": "p",
        },
    ]
    whole = ran(stages, texts)
    cut = data.draw(st.integers(0, len(texts)))
    parts = [ran(stages, texts[:cut]), ran(stages, texts[cut:])]
    assert [reason for part in parts for reason in part.reasons] == whole.reasons
    assert [a for part in parts for a in part.also.values()] == list(whole.also.values())
    assert [
        t for part in parts for t in part.batch.text.to_pylist()
    ] == whole.batch.text.to_pylist()
    for name in ("start", "end", "text", "stage"):
        halves = [v for part in parts for v in part.edits.column(name).to_pylist()]
        assert halves == whole.edits.column(name).to_pylist()


ALPHABET = st.text(st.sampled_from("aé日🎉\0 \n"), max_size=12)


@st.composite
def edited(draw: st.DrawFn) -> tuple[list[str], list[tuple[int, int, int, str]]]:
    """Texts, and edits (unit, start, end, replacement) in characters, sorted, disjoint."""
    texts = draw(st.lists(ALPHABET, max_size=5))
    edits = []
    for unit, text in enumerate(texts):
        borders = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
        for start, end in zip(borders[::2], borders[1::2], strict=False):
            edits.append((unit, start, end, draw(ALPHABET)))
    return texts, edits


@given(edited(), st.booleans(), st.integers(0, 2))
def test_apply_edits(
    case: tuple[list[str], list[tuple[int, int, int, str]]], removal: bool, offset: int
) -> None:
    texts, edits = case
    expected = {}
    for unit in sorted({unit for unit, *_ in edits}):
        text = texts[unit]
        for _, start, end, new in reversed([edit for edit in edits if edit[0] == unit]):
            text = text[:start] + ("" if removal else new) + text[end:]
        expected[unit] = text

    def place(unit: int, character: int) -> int:
        return len(texts[unit][:character].encode())

    made = Edits(
        np.array([unit for unit, *_ in edits], np.int64),
        np.array([place(unit, start) for unit, start, _, _ in edits], np.int64),
        np.array([place(unit, end) for unit, _, end, _ in edits], np.int64),
        np.ones(len(edits), np.uint16),
        np.full(len(edits), np.nan),
        None if removal else [new for *_, new in edits],
    )
    array = pa.array([*["é"] * offset, *texts], TEXT).slice(offset)
    changed, made_texts = apply_edits(array, made)
    assert dict(zip(changed.tolist(), made_texts, strict=True)) == expected


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ([0, 1], [2, 3]),
        ([2, 0], [3, 1]),
        ([0], [9]),
        ([3], [2]),
        ([-1], [1]),
        ([0], [1]),
        ([1], [2]),
    ],
)
def test_edits_that_cannot_be(start: list[int], end: list[int]) -> None:
    text = pa.array(["é日" if len(start) == 1 else "abcd"], TEXT)
    edits = Edits(
        np.zeros(len(start), np.int64),
        np.array(start, np.int64),
        np.array(end, np.int64),
        np.ones(len(start), np.uint16),
        np.full(len(start), np.nan),
    )
    with pytest.raises(ValueError, match="edit|decode"):
        apply_edits(text, edits)


def test_a_defect_in_a_stage_names_the_stage_and_its_line() -> None:
    step = Step("mine", "toy", ())
    sentence = r'stage "mine" \(toy\): ZeroDivisionError: .*test_phase.py:'
    with pytest.raises(StageError, match=sentence), blamed(step):
        _ = 1 / int("0")
    with pytest.raises(ConfigError), blamed(step):
        raise ConfigError("as it is")
