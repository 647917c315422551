"""``rule``: any measure, taken or looked up, and what it says of wrong parameters."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cleanpipe.filters.rule import MeasureRule
from cleanpipe.surface import SURFACE
from cleanpipe.units import Units

from .table import faults, made, table

test_rule = table(
    MeasureRule,
    [
        ("one two three", {"measure": "whitespace_words", "bounds": [3, 3]}, None),
        ("one two", {"measure": "whitespace_words", "min": 3}, "whitespace_words"),
        ("one two three", {"measure": "whitespace_words", "min": 3}, None),
        ("one two three", {"measure": "whitespace_words", "above": 3}, "whitespace_words"),
        ("one two three", {"measure": "whitespace_words", "max": 3}, None),
        ("one two three", {"measure": "whitespace_words", "below": 3}, "whitespace_words"),
        ("one two three", {"measure": "whitespace_words", "above": 2, "max": 3}, None),
        ("", {"measure": "characters", "max": 0}, None),
        ("", {"measure": "characters", "min": 1}, "characters"),
        ("word", {"measure": "mean_word_length", "bounds": [4, 4]}, None),
        ("x" * 999, {"measure": "mean_word_length", "max": 10}, "mean_word_length"),
        ("🎉 🎉", {"measure": "symbol_share", "min": 1}, None),
        ("שלום עולם", {"measure": "letter_share", "min": 1}, None),
        ("a\r\n\r\nb", {"measure": "paragraphs", "bounds": [2, 2]}, None),
        ("一。二！三", {"measure": "sentences", "bounds": [3, 3]}, None),
        ("ไทย ไทย", {"measure": "sentences", "bounds": [1, 1]}, None),
    ],
)


def test_a_measure_of_an_earlier_stage_is_looked_up_and_not_stored_again() -> None:
    stage = made(MeasureRule, {"measure": "remove.removed_share", "max": 0.3})
    assert stage.needs() == ("remove.removed_share",)
    assert stage.takes() == ()
    known = {"remove.removed_share": np.array([0.3, 0.31, np.nan])}
    units = Units(pa.array(["a", "b", "c"], pa.large_string()), known)
    assert stage.judge(stage.measure(units)).tolist() == [0, 1, 0]


def test_a_surface_measure_is_taken_and_stored() -> None:
    stage = made(MeasureRule, {"measure": "tokens", "min": 1})
    assert (stage.needs(), stage.takes()) == ((), ("tokens",))


def test_without_bounds_it_is_a_scorer() -> None:
    stage = made(MeasureRule, {"measure": "tokens"})
    assert (stage.rules(), stage.takes()) == ((), ("tokens",))
    units = Units(pa.array(["a b", ""], pa.large_string()))
    measures = stage.measure(units)
    assert list(measures["tokens"]) == [2, 0]
    assert stage.judge(measures).tolist() == [0, 0]


def test_faults() -> None:
    [fault] = faults(MeasureRule, {"measure": "symbol_shar", "max": 0.3})
    assert fault.startswith(
        'measure: "symbol_shar" is no surface measure, and names no stage; '
        f'did you mean "symbol_share"? {len(SURFACE)} are known, such as symbol_share, '
    )
    assert faults(MeasureRule, {"measure": "remove.removed_share"}) == [
        ": expected bounds, or min, max, above or below: it is measured already"
    ]
    assert faults(MeasureRule, {"measure": "tokens", "bounds": [1, 2], "min": 1}) == [
        "bounds: expected bounds or min, not both"
    ]
    assert faults(MeasureRule, {"measure": "tokens", "min": 1, "above": 1}) == [
        ": expected one of min and above, and one of max and below"
    ]
    assert faults(MeasureRule, {"measure": "tokens", "min": 2, "max": 1}) == [
        ": expected low <= high, got [2, 1]: nothing passes"
    ]
    assert faults(MeasureRule, {"measure": "tokens", "max": float("nan")})
