"""The grammar of bounds: what passes, what is refused, and that it reads back as written."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleanpipe.bounds import Bounds, number

NAN = math.nan


@pytest.mark.parametrize(
    ("written", "passing", "failing", "shown"),
    [
        ([2, 5], [2, 3.5, 5], [1.999, 5.001], ">= 2 and <= 5"),
        ((2, 5), [2, 5], [1, 6], ">= 2 and <= 5"),
        ([0.1, None], [0.1, 1e300], [0.0999, -1], ">= 0.1"),
        ([None, 0.3], [0.3, -1e300], [0.30001], "<= 0.3"),
        ([None, 0], [0, -1], [1e-9], "<= 0"),
        ([0, None], [0, 1], [-1e-9], ">= 0"),
        ([0, 0], [0], [1, -1], ">= 0 and <= 0"),
        ([None, None], [-1e300, 0, 1e300], [], "any"),
        ([-5, -2], [-5, -2], [-1, -6, 0], ">= -5 and <= -2"),
        ({"min": 2}, [2], [1.9], ">= 2"),
        ({"max": 2}, [2], [2.1], "<= 2"),
        ({"min": 2, "max": 3}, [2, 3], [1.9, 3.1], ">= 2 and <= 3"),
        ({"above": 2}, [2.1], [2, 1], "> 2"),
        ({"below": 2}, [1.9], [2, 3], "< 2"),
        ({"above": 0, "below": 1}, [0.5], [0, 1], "> 0 and < 1"),
        ({"min": 0, "below": 1}, [0, 0.999], [1], ">= 0 and < 1"),
        ({"above": 0, "max": 1}, [1], [0], "> 0 and <= 1"),
        ({"min": None, "max": 3}, [-9, 3], [4], "<= 3"),
        ({"above": None, "below": None}, [0], [], "any"),
        ({"above": 0.5}, [0.5000001], [0.5], "> 0.5"),
    ],
)
def test_what_passes(written: Any, passing: list[float], failing: list[float], shown: str) -> None:
    bounds = Bounds.parse(written)
    assert bounds.fails(np.array([*passing, NAN], np.float64)).tolist() == [False] * (
        len(passing) + 1
    )
    assert bounds.fails(np.array(failing, np.float64)).all()
    assert str(bounds) == shown
    assert Bounds.parse(bounds.to_json()) == bounds
    assert Bounds.parse(bounds) is bounds
    assert bool(bounds) == (shown != "any")


@pytest.mark.parametrize(
    ("written", "value", "broken"),
    [
        ([2, 5], 1, ">= 2"),
        ([2, 5], 6, "<= 5"),
        ([2, 5], 3, ""),
        ([2, 5], NAN, ""),
        ({"above": 2, "below": 5}, 2, "> 2"),
        ({"above": 2, "below": 5}, 5, "< 5"),
        ([None, 0.3], 0.31, "<= 0.3"),
        ([None, 100000], 100001, "<= 100000"),
    ],
)
def test_the_end_that_is_broken(written: Any, value: float, broken: str) -> None:
    assert Bounds.parse(written).broken_by(value) == broken


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (3, "expected [low, high] with null for an open end, or a map of min, max, above, below"),
        ("3", 'got "3"'),
        (None, "got null"),
        ([], "expected [low, high]"),
        ([1], "expected [low, high]"),
        ([1, 2, 3], "expected [low, high]"),
        ({}, "expected [low, high]"),
        ({"minimum": 3}, "expected [low, high]"),
        ({"min": 1, "most": 3}, "expected [low, high]"),
        ({"min": 1, "above": 1}, "expected one of min and above"),
        ({"max": 1, "below": 1}, "one of max and below"),
        ([5, 2], "expected low <= high, got [5, 2]: nothing passes"),
        ({"min": 2, "below": 2}, "nothing passes"),
        ({"above": 2, "max": 2}, "nothing passes"),
        ({"above": 2, "below": 2}, "nothing passes"),
        ([True, None], "expected a finite number or null as a bound, got true"),
        (["1", None], 'expected a finite number or null as a bound, got "1"'),
        ([None, math.inf], "expected a finite number"),
        ([NAN, None], "expected a finite number"),
        ([[1], 2], "expected a finite number"),
    ],
)
def test_refused(written: Any, message: str) -> None:
    with pytest.raises(ValueError, match="expected") as caught:
        Bounds.parse(written)
    assert message in str(caught.value)


ENDS = st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**6), 10**6)


@given(ENDS, ENDS, st.booleans(), st.booleans())
def test_reads_back_as_written(
    low: float | None, high: float | None, low_strict: bool, high_strict: bool
) -> None:
    written = {"above" if low_strict else "min": low, "below" if high_strict else "max": high}
    try:
        bounds = Bounds.parse(written)
    except ValueError:
        assert low is not None and high is not None
        assert low > high or (low == high and (low_strict or high_strict))
        return
    assert Bounds.parse(bounds.to_json()) == bounds


@given(ENDS, ENDS, st.lists(st.floats(allow_infinity=False)))
def test_inside_is_neither_below_nor_above(
    low: float | None, high: float | None, values: list[float]
) -> None:
    bounds = Bounds(low, high)
    numbers = np.array(values, np.float64)
    for value, fails in zip(values, bounds.fails(numbers).tolist(), strict=True):
        low_fails = low is not None and value < float(low)
        high_fails = high is not None and value > float(high)
        assert fails == (low_fails or high_fails)
        assert bool(bounds.broken_by(value)) == fails


def test_whole_numbers_are_written_one_way() -> None:
    # A default in code may be an int, the same number in a file is a float: one plan.
    assert repr(Bounds(50, 100_000).to_json()) == repr(Bounds.parse([50.0, 1e5]).to_json())
    assert repr(Bounds(50, 100_000).to_json()) == "[50, 100000]"
    assert repr(Bounds(0, 0.5, True).to_json()) == "{'above': 0, 'max': 0.5}"


@pytest.mark.parametrize(
    ("value", "text"),
    [(50.0, "50"), (0.1, "0.1"), (-3.0, "-3"), (1e15, "1000000000000000.0"), (1e-7, "1e-07")],
)
def test_numbers_as_people_write_them(value: float, text: str) -> None:
    assert number(value) == text
