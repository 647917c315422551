"""``when``: which documents a stage is for."""

from __future__ import annotations

import datetime
import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cleanpipe.bounds import Numbers
from cleanpipe.when import parse_test, parse_when

LANGUAGE = pa.array(["en", "zh", "und", None], pa.large_string())
SCORE: Numbers = np.array([0.2, 0.5, 0.9, np.nan])
YEAR = pa.array([2019, 2020, 2024, None], pa.int64())
SHARE = pa.array([0.5, 1.0, 2.0, None], pa.float32())
PRICE = pa.array([Decimal("1.50"), Decimal("2.00"), Decimal("0.00"), None], pa.decimal128(9, 2))
FLAG = pa.array([True, False, True, None])
DAY = pa.array([datetime.date(2024, 1, 1), None, None, None], pa.date32())
TAGS = pa.array([["a"], [], ["a", "b"], None], pa.list_(pa.string()))
PLAIN = pa.array(["en", "x", "", None], pa.string())
NOTHING = pa.nulls(4)


@pytest.mark.parametrize(
    ("value", "test", "held"),
    [
        (LANGUAGE, "en", "1000"),
        (LANGUAGE, ("en", "zh"), "1100"),
        (LANGUAGE, ("en",), "1000"),
        (LANGUAGE, None, "0001"),
        (LANGUAGE, ("zh", None), "0101"),
        (LANGUAGE, {"not": "en"}, "0111"),
        (LANGUAGE, {"not": ("en", "zh")}, "0011"),
        (LANGUAGE, {"not": None}, "1110"),
        (LANGUAGE, {"not": {"not": "en"}}, "1000"),
        (LANGUAGE, {"matches": "^[ez]"}, "1100"),
        (LANGUAGE, {"matches": "n"}, "1010"),
        (LANGUAGE, {"matches": ""}, "1110"),
        (LANGUAGE, {"not": {"matches": "n"}}, "0101"),
        (LANGUAGE, (0, 1), "0000"),
        (LANGUAGE, 3, "0000"),
        (PLAIN, "en", "1000"),
        (PLAIN, "", "0010"),
        (PLAIN, {"matches": "^$"}, "0010"),
        (SCORE, (0.2, 0.5), "1100"),
        (SCORE, (None, 0.5), "1100"),
        (SCORE, {"above": 0.2}, "0110"),
        (SCORE, {"below": 0.9, "min": 0.5}, "0100"),
        (SCORE, {"not": {"max": 0.5}}, "0011"),
        (SCORE, 0.5, "0100"),
        (SCORE, None, "0001"),
        (SCORE, "0.5", "0000"),
        (SCORE, True, "0000"),
        (SCORE, {"matches": "5"}, "0000"),
        (YEAR, (2020, None), "0110"),
        (YEAR, 2020, "0100"),
        (YEAR, 2020.0, "0100"),
        (YEAR, (2019, 2020, 2024), "1110"),
        (YEAR, {"not": 2020}, "1011"),
        (YEAR, "2020", "0000"),
        (YEAR, {"matches": "20"}, "0000"),
        (SHARE, {"min": 1}, "0110"),
        (SHARE, 0.5, "1000"),
        (PRICE, {"above": 0}, "1100"),
        (PRICE, 1.5, "1000"),
        (FLAG, True, "1010"),
        (FLAG, False, "0100"),
        (FLAG, 1, "0000"),
        (FLAG, (0, 1), "0000"),
        (FLAG, {"not": True}, "0101"),
        (DAY, "2024-01-01", "0000"),
        (DAY, None, "0111"),
        (TAGS, "a", "0000"),
        (TAGS, {"not": None}, "1110"),
        (NOTHING, "en", "0000"),
        (NOTHING, None, "1111"),
        (NOTHING, (0, 1), "0000"),
        (NOTHING, {"matches": "x"}, "0000"),
    ],
)
def test_a_test(value: Any, test: Any, held: str) -> None:
    parsed = parse_test(test)
    assert "".join(str(int(flag)) for flag in parsed.holds(value)) == held
    assert parsed.holds(value).dtype == np.bool_
    # The plan shows it in the grammar it was written in.
    assert parse_test(_frozen(parsed.to_json())) == parsed
    assert pickle.loads(pickle.dumps(parsed)) == parsed
    assert len(parsed.holds(value[:0])) == 0


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return tuple(value) if isinstance(value, list) else value


def test_all_tests_hold() -> None:
    when = parse_when({"language": ("en", "zh"), "score": {"min": 0.3}})
    known: dict[str, Any] = {"language": LANGUAGE, "score": SCORE}
    assert when.holds(4, known.__getitem__).tolist() == [False, True, False, False]
    assert when.names() == ("language", "score")
    assert when.to_json() == {"language": ["en", "zh"], "score": [0.3, None]}


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("en", "expected a map such as {language: en}, got en"),
        ({}, "expected a map such as"),
        (None, "expected a map such as"),
        ({"language": ()}, "expected at least one value in the list"),
        ({"language": {}}, "expected not, matches, min, max, above or below"),
        ({"language": {"is": "en"}}, "expected not, matches, min, max, above or below, got is"),
        ({"language": {"not": "en", "min": 3}}, "expected not, matches"),
        ({"language": {"matches": "("}}, 'expected an RE2 pattern, got "("'),
        ({"language": {"matches": r"(?=x)"}}, "expected an RE2 pattern"),
        ({"language": {"matches": 3}}, "expected an RE2 pattern, got 3"),
        ({"score": (5, 2)}, "expected low <= high"),
        ({"score": {"min": "x"}}, "expected a finite number or null"),
        ({"score": (("a",), "b")}, "expected plain values in the list"),
    ],
)
def test_refused(written: Any, message: str) -> None:
    with pytest.raises(ValueError, match="expected") as caught:
        parse_when(written)
    assert message in str(caught.value)
