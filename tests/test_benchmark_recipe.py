"""What ``make bench-recipe`` stands on: the recipe it runs, and whose time is whose. No speeds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.recipe import pipeline, split
from benchmarks.recipe.__main__ import table
from cleanpipe import Pipeline

REMOVE = {"remove": {"unit": "line", "failing": [{"length": {"chars": [3, None]}}]}}


def test_perplexity_and_contamination_join_the_recipe(tmp_path: Path) -> None:
    stages = pipeline.whole(tmp_path)
    kinds = [next(iter(entry)) for entry in stages]
    assert kinds[kinds.index("pii") - 1] == "perplexity"
    assert kinds[kinds.index("exact") - 1] == "contamination"
    assert kinds[-2:] == ["exact", "minhash"]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the CPU's clock says; tests set it."""
    now = [0.0]
    monkeypatch.setattr("benchmarks.recipe.split.time.process_time", lambda: now[0])
    return now


def test_what_a_part_calls_of_another_is_not_its(clock: list[float]) -> None:
    found = split.Split()

    def inner() -> None:
        clock[0] += 2

    watched = found.watched(inner, "inner")
    with found.part("outer"):
        clock[0] += 1
        watched()
        clock[0] += 4
    clock[0] += 8  # of nobody
    watched()
    assert found.seconds == {"outer": 5, "inner": 4}


def test_an_iterator_has_the_time_that_it_takes_itself(clock: list[float]) -> None:
    found = split.Split()

    def each() -> Iterator[int]:
        for number in range(3):
            clock[0] += 1
            yield number

    with found.part("outer"):
        for number in found.watched(each, "each")():
            clock[0] += 10 * number
    assert found.seconds == {"outer": 30, "each": 3}


def test_a_run_is_divided_and_left_as_it_was(tmp_path: Path) -> None:
    pipe = Pipeline.from_dict({"stages": [{"length": {"tokens": [1, None]}}, REMOVE, "exact"]})
    before = [getattr(owner, name) for owner, name, _ in split._WATCHED]
    found = split.Split()
    with split.watching(found):
        pipe.run(["a line\nof\nthree lines"] * 3, output=tmp_path / "out")
    assert before == [getattr(owner, name) for owner, name, _ in split._WATCHED]
    assert {*split.PARTS, split.START} >= set(found.seconds)
    wanted = {"rules by line and sentence", "rules by document", "hashing", "writing", "reading"}
    assert wanted <= set(found.seconds)


def test_bare_calls_are_taken_off() -> None:
    lines = table({"language": 3.0, "reading": 1.0}, {"language": 2.0, "perplexity": 0.0}, 0.5)
    cells = {line[:44].strip(): line[44:].split() for line in lines[1:]}
    assert cells["language, without the calls"] == ["1.00", "2.0"]
    assert cells["together"][:2] == ["2.00", "4.0"] and cells["together"][-1] == "met"
    assert cells["without language and perplexity"] == ["1.00", "2.0"]
