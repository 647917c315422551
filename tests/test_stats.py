"""Counts that add up."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleanpipe.errors import AccountError
from cleanpipe.stats import Counts, StageCounts, Stats, summary

NUMBERS = st.integers(0, 10**12)
NAMES = st.sampled_from(["a", "b", "c"])


def counts(cls: type[Any]) -> st.SearchStrategy[Any]:
    # Whole seconds: floats add up the same in any order only up to rounding.
    return st.builds(cls, **{field.name: NUMBERS for field in fields(cls)})


STATS = st.builds(
    Stats,
    counts(Counts),
    st.dictionaries(NAMES, counts(StageCounts)),
    st.dictionaries(NAMES, counts(Counts)),
    st.dictionaries(NAMES, counts(Counts)),
    st.dictionaries(NAMES, st.dictionaries(NAMES, st.lists(NUMBERS, min_size=2, max_size=2))),
    NUMBERS,
    NUMBERS,
    NUMBERS,
    NUMBERS,
)


def copy(stats: Stats) -> Stats:
    return Stats.from_json(json.loads(json.dumps(stats.to_json())))


def added(*parts: Stats) -> Stats:
    total = Stats()
    for part in parts:
        total.add(copy(part))
    return total


@given(STATS, STATS, STATS)
def test_adding_is_commutative_and_associative(one: Stats, two: Stats, three: Stats) -> None:
    together = added(one, two, three)
    assert added(three, one, two) == together
    pair = added(two, three)
    assert added(one, pair) == together
    assert added(one, Stats()) == added(one)


def numbers(value: Any, path: str = "") -> dict[str, int]:
    """Every number of a plain value, by where it stands."""
    if isinstance(value, (int, float)):
        return {path: int(value)}
    items = enumerate(value) if isinstance(value, list) else value.items()
    return {k: v for key, item in items for k, v in numbers(item, f"{path}.{key}").items()}


@given(STATS, STATS)
def test_every_number_is_added(one: Stats, two: Stats) -> None:
    parts = numbers(one.to_json()), numbers(two.to_json())
    total = numbers(added(one, two).to_json())
    assert total == {
        path: sum(part.get(path, 0) for part in parts) for path in {*parts[0], *parts[1]}
    }


@given(STATS)
def test_it_reads_back(stats: Stats) -> None:
    assert copy(stats) == stats


@given(STATS, STATS)
def test_adding_leaves_the_other_as_it_was(one: Stats, two: Stats) -> None:
    before = copy(two)
    one.add(two)
    one.add(one)
    assert two == before


def balanced() -> Stats:
    return Stats(
        Counts(documents_in=10, kept=5, dropped=4, dead=1),
        {"a": StageCounts(dropped=3), "b": StageCounts(dropped=1)},
    )


def test_accounts_that_balance() -> None:
    balanced().check("here")
    Stats().check("nowhere")


@pytest.mark.parametrize("name", ["documents_in", "kept", "dropped", "dead"])
@pytest.mark.parametrize("by", [1, -1])
def test_a_document_goes_missing(name: str, by: int) -> None:
    stats = balanced()
    setattr(stats.total, name, getattr(stats.total, name) + by)
    with pytest.raises(AccountError, match="shard 3: .* documents in, but .* kept"):
        stats.check("shard 3")


def test_a_drop_of_no_stage() -> None:
    stats = balanced()
    stats.stages["a"].dropped -= 1
    with pytest.raises(AccountError):
        stats.check("shard 3")


def test_summary_has_the_promised_shape() -> None:
    stats = balanced()
    stats.total.bytes_in, stats.total.bytes_kept, stats.total.bytes_dropped = 100, 50, 30
    stats.total.tokens_in, stats.total.tokens_kept, stats.total.tokens_dropped = 20, 10, 7
    stats.stages["a"] = StageCounts(9, 8, 1, 3, 2, 1.23456)
    stats.source = {"web": Counts(documents_in=10, kept=5, dropped=4, dead=1)}
    stats.language = {"zh": Counts(documents_in=2), "en": Counts(documents_in=1, kept=1)}
    stats.replaced, stats.extra = 4, 3
    made = summary(stats, ["b", "a", "none"], [], "f" * 64, 7.0004)
    stage = {"judged": 0, "too_short": 0, "dropped": 0, "units_removed": 0, "seconds": 0.0}
    assert made == {
        "documents": {"in": 10, "kept": 5, "dropped": 4, "dead": 1},
        "bytes": {"in": 100, "kept": 50, "dropped": 30, "removed": 20},
        "tokens": {"in": 20, "kept": 10, "dropped": 7, "removed": 3},
        "stages": [
            {"name": "b", "in": 0, **stage, "dropped": 1},
            {
                "name": "a",
                "in": 9,
                "judged": 8,
                "too_short": 1,
                "dropped": 3,
                "units_removed": 2,
                "seconds": 1.235,
            },
            {"name": "none", "in": 0, **stage},
        ],
        "by": {
            "source": {"web": {"in": 10, "kept": 5, "dropped": 4, "dead": 1}},
            "language": {
                "en": {"in": 1, "kept": 1, "dropped": 0, "dead": 0},
                "zh": {"in": 2, "kept": 0, "dropped": 0, "dead": 0},
            },
        },
        "clusters": [],
        "extra": 3,
        "replaced": 4,
        "seconds": 7.0,
        "plan": "f" * 64,
    }
    assert list(made["by"]["language"]) == ["en", "zh"]
    assert sum(stage["dropped"] for stage in made["stages"]) == made["documents"]["dropped"]


def test_losses() -> None:
    stats = Stats()
    stats.lose("web", "length", 10, 3)
    stats.lose("web", "length", 5, 1)
    stats.lose("web", "exact", 11, 0)
    stats.lose("books", "length", 1, 1)
    assert stats.losses == {
        "web": {"length": [15, 4], "exact": [11, 0]},
        "books": {"length": [1, 1]},
    }
