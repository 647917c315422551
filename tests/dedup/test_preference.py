"""``prefer``: entries, their faults, and keys that sort as the sentence says."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleanpipe import ConfigError, Pipeline
from cleanpipe.dedup.exact import Exact
from cleanpipe.dedup.preference import keys, names
from cleanpipe.units import Units
from tests.filters.table import faults, made

LAST = 2**64 - 1
TEXTS = ["one two three", "one", "", "我爱北京"]
KNOWN: dict[str, Any] = {
    "source": pa.array(["web", "books", "web", "news"], pa.large_string()),
    "language": pa.array(["en", None, "zh", "en"], pa.large_string()),
    "perplexity.perplexity": np.array([20.5, np.nan, -3.0, np.inf]),
    "column.year": pa.array([2024, None, 2023, 1], pa.int16()),
    "column.day": pa.array([datetime.date(2024, 1, day) for day in (1, 2, 3)] + [None]),
    "column.at": pa.array([5, 3, None, 4], pa.timestamp("us")),
    "column.good": pa.array([True, False, None, True]),
    "column.none": pa.nulls(4),
}


def prefer(*entries: Any) -> Any:
    return made(Exact, {"prefer": list(entries)}).prefer


def ordered(*entries: Any) -> list[int]:
    """The texts' places, the best first."""
    units = Units(pa.array(TEXTS, pa.large_string()), KNOWN)
    found = keys(prefer(*entries), units)
    assert len(found) == len(entries)
    assert all(key.dtype == np.uint64 and key.shape == (4,) for key in found)
    return [int(place) for place in np.lexsort((np.arange(4), *found[::-1]))]


@pytest.mark.parametrize(
    ("entries", "order"),
    [
        ([], [0, 1, 2, 3]),
        (["longest"], [3, 0, 1, 2]),
        (["shortest"], [2, 1, 0, 3]),
        ([{"source": ["books", "web"]}], [1, 0, 2, 3]),
        ([{"source": ["books", "web"]}, "shortest"], [1, 2, 0, 3]),
        ([{"language": ["zh"]}], [2, 0, 1, 3]),
        ([{"language": ["zh", "en"]}, "longest"], [2, 3, 0, 1]),
        ([{"perplexity.perplexity": "lowest"}], [2, 0, 3, 1]),
        ([{"perplexity.perplexity": "highest"}], [3, 0, 2, 1]),
        ([{"perplexity.perplexity": [20.5]}], [0, 1, 2, 3]),
        ([{"column.year": "highest"}], [0, 2, 3, 1]),
        ([{"column.year": [1, 2023]}], [3, 2, 0, 1]),
        ([{"column.day": "highest"}], [2, 1, 0, 3]),
        ([{"column.at": "lowest"}], [1, 3, 0, 2]),
        ([{"column.good": [False]}], [1, 0, 2, 3]),
        ([{"column.good": [0]}], [0, 1, 2, 3]),  # as in `when`: a truth value is no number
        ([{"column.none": "highest"}, {"column.none": ["x"]}], [0, 1, 2, 3]),
        ([{"tokens": "highest"}], [3, 0, 1, 2]),
    ],
)
def test_what_comes_first(entries: list[Any], order: list[int]) -> None:
    assert ordered(*entries) == order


def test_what_is_last() -> None:
    units = Units(pa.array(TEXTS, pa.large_string()), KNOWN)
    (key,) = keys(prefer({"perplexity.perplexity": "lowest"}), units)
    assert key.tolist().index(LAST) == 1
    (key,) = keys(prefer({"source": ["books", "web"]}), units)
    assert key.tolist() == [1, 0, 1, LAST]


NUMBER = st.floats(allow_nan=False) | st.integers(-5, 5).map(float)


@given(st.lists(NUMBER | st.just(math.nan), min_size=1), st.booleans())
def test_keys_are_in_the_order_of_the_numbers(numbers: list[float], highest: bool) -> None:
    units = Units(pa.array([""] * len(numbers), pa.large_string()), {"a.b": np.array(numbers)})
    (key,) = keys(prefer({"a.b": "highest" if highest else "lowest"}), units)
    for number, one in zip(numbers, key.tolist(), strict=True):
        for other, two in zip(numbers, key.tolist(), strict=True):
            if math.isnan(number) or math.isnan(other):
                assert (one < two) == (math.isnan(other) and not math.isnan(number))
            else:
                assert (one < two) == (number > other if highest else number < other)


def test_text_has_no_highest() -> None:
    units = Units(pa.array(TEXTS, pa.large_string()), KNOWN)
    with pytest.raises(KeyError, match="source has no numbers"):
        keys(prefer({"source": "highest"}), units)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("best", "expected longest, shortest, or one name"),
        (3, "expected longest, shortest, or one name"),
        ({}, "expected longest, shortest, or one name"),
        ({"a": ["x"], "b": ["y"]}, "expected longest, shortest, or one name"),
        ({"source": "books"}, "source: expected a list of values, the best first"),
        ({"source": []}, "source: expected a list of values, the best first"),
        ({"source": {"books": 1}}, "source: expected a list of values, the best first"),
        ({"source": [None]}, "source: expected texts and numbers, got None"),
        ({"source": [["a"]]}, "source: expected texts and numbers"),
        ({"source": ["a", "b", "a"]}, "source: a is listed twice"),
    ],
)
def test_faults(entry: Any, message: str) -> None:
    (fault,) = faults(Exact, {"prefer": ["longest", entry]})
    assert fault.startswith(f"prefer.1: {message}")


def test_a_list_is_expected() -> None:
    assert faults(Exact, {"prefer": "longest"}) == ['prefer: expected a list, got "longest"']


def test_what_it_needs() -> None:
    entries = prefer("longest", {"source": ["a"]}, "shortest", {"x.y": "lowest"})
    assert names(entries) == ("tokens", "source", "x.y")
    assert made(Exact, {"prefer": ["longest", {"language": ["en"]}]}).needs() == (
        "tokens",
        "language",
    )


def test_a_source_or_column_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "one two"}\n', encoding="utf-8")
    pipeline = tmp_path / "pipeline.yaml"
    pipeline.write_text(
        "sources: {books: {paths: a.jsonl}}\n"
        "stages:\n"
        "  - minhash: {prefer: [{source: [bokos]}, {column.date: highest}]}\n",
        encoding="utf-8",
    )
    with pytest.raises(ConfigError) as raised:
        Pipeline.from_yaml(pipeline).run(output=str(tmp_path / "out"))
    messages = [fault.message for fault in raised.value.faults]
    assert any('"bokos"; did you mean "books"?' in message for message in messages)


def test_the_highest_of_texts_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "one", "date": "2020-01-01"}\n', encoding="utf-8")
    pipeline = tmp_path / "pipeline.yaml"
    for wanted, message in (
        ("{column.date: highest}", "expected a column of numbers, dates or times"),
        ("{source: lowest}", '"source" is a label, which has no order'),
    ):
        pipeline.write_text(
            f"sources: {{books: {{paths: a.jsonl}}}}\nstages: [minhash: {{prefer: [{wanted}]}}]\n",
            encoding="utf-8",
        )
        with pytest.raises(ConfigError, match=message):
            Pipeline.from_yaml(pipeline).run(output=str(tmp_path / "out"))
