"""``remove``: which units go, what is left of the text, and what is said of it."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleanpipe.bounds import Bounds, Flags
from cleanpipe.filters.length import Length
from cleanpipe.filters.line_runs import LineRuns
from cleanpipe.filters.remove import Remove
from cleanpipe.filters.rule import MeasureRule
from cleanpipe.filters.symbols import Symbols
from cleanpipe.parameters import build
from cleanpipe.stage import Edits, Filter, Filters, Measures, Rule
from cleanpipe.text import SubUnit
from cleanpipe.units import Units

SHORT: Filters = (("length", Length(tokens=Bounds(3, None))),)
LOUD: Filters = (("symbols", Symbols(symbol_share=Bounds(None, 0.5))),)


def removed(stage: Remove, texts: Sequence[str]) -> tuple[list[str], Edits, Measures]:
    units = Units(pa.array(texts, pa.large_string()))
    edits, measures = stage.rewrite(units)
    left = [bytearray(text.encode()) for text in texts]
    for unit, start, end in reversed(
        list(zip(edits.unit.tolist(), edits.start.tolist(), edits.end.tolist(), strict=True))
    ):
        del left[unit][start:end]
    return [text.decode() for text in left], edits, measures


@pytest.mark.parametrize(
    ("text", "unit", "failing", "left"),
    [
        ("", "line", SHORT, ""),
        (" \n ", "line", SHORT, " \n "),
        ("a b c", "line", SHORT, "a b c"),
        ("a b", "line", SHORT, ""),
        ("word\n", "line", SHORT, ""),
        ("a b c\nd\ne f g\n", "line", SHORT, "a b c\ne f g\n"),
        ("d\n\na b c\n", "line", SHORT, "a b c\n"),
        ("a b c\n\nd\n", "line", SHORT, "a b c"),
        ("a b c\r\nd\r\ne f g\r\n", "line", SHORT, "a b c\r\ne f g\r\n"),
        ("a b c\nd\n\ne f g", "line", SHORT, "a b c\n\ne f g"),
        ("a b c\n\nd\ne f g", "line", SHORT, "a b c\n\ne f g"),
        ("a b c\nd\n\nd\ne f g", "line", SHORT, "a b c\n\ne f g"),
        ("a b c\n  d\n    e f g", "line", SHORT, "a b c\n    e f g"),
        ("a b c\n\nd\n\ne f g", "paragraph", SHORT, "a b c\n\ne f g"),
        ("a b c\nd\ne f g", "paragraph", SHORT, "a b c\ne f g"),
        ("a b\nc\n\nd", "paragraph", SHORT, "a b\nc"),
        ("We go home. No. They stay here.", "sentence", SHORT, "We go home. They stay here."),
        ("We go home.\nNo. They stay here.", "sentence", SHORT, "We go home.\nThey stay here."),
        ("我们回家。好！他们留下。", "sentence", SHORT, "我们回家。他们留下。"),
        ("ไทยดีมาก\nดี\nไทยดีมาก", "line", (("l", Length(chars=Bounds(3, None))),),
         "ไทยดีมาก\nไทยดีมาก"),
        ("שלום לך עולם\nלא\nשלום לך עולם", "line", SHORT, "שלום לך עולם\nשלום לך עולם"),
        ("Fine.\n🎉🎉🎉\nFine.", "line", LOUD, "Fine.\nFine."),
        ("🎉🎉🎉", "sentence", LOUD, ""),
        ("ab++\nab+++\n", "line", LOUD, "ab++"),
        ("a" * 9999, "sentence", LOUD, "a" * 9999),
    ],
)  # fmt: skip
def test_what_is_left(text: str, unit: SubUnit, failing: Filters, left: str) -> None:
    # Among others, so that a mix-up of documents shows.
    texts, edits, measures = removed(Remove(unit, failing), ["+", text, "x y z"])
    assert texts == ["", left, "x y z"]
    share = measures["removed_share"]
    assert isinstance(share, np.ndarray)
    assert share[1] == ((len(text) - len(left)) / len(text) if text else 0)
    units = measures["removed_units"]
    assert isinstance(units, np.ndarray)
    assert units.tolist() == np.bincount(edits.unit, minlength=3).tolist()


def test_a_unit_goes_for_the_first_rule_it_fails() -> None:
    stage = Remove(
        "line",
        (
            ("symbols", Symbols(symbol_share=Bounds(None, 0.5), digit_share=Bounds(None, 0.5))),
            ("short", Length(tokens=Bounds(2, None))),
        ),
    )
    assert [(rule.name, rule.measure) for rule in stage.rules()] == [
        ("symbols.symbol_share", "symbols.symbol_share"),
        ("symbols.digit_share", "symbols.digit_share"),
        ("short.tokens", "short.tokens"),
    ]
    _, edits, _ = removed(stage, ["!!!\n123\nword\ntwo words", "+++ a\n"])
    assert edits.unit.tolist() == [0, 0, 0, 1]
    assert edits.rule.tolist() == [1, 2, 3, 1]
    assert edits.rule.dtype == np.uint16
    assert edits.value.tolist() == [1.0, 1.0, 1.0, 0.75]


def test_units_too_short_to_be_judged_stand_beside_others_all_the_same() -> None:
    runs = LineRuns(Bounds(None, 2), min_tokens=2)
    texts, edits, _ = removed(Remove("line", (("runs", runs),)), ["a b\nc\nd e"])
    assert texts == ["c"]
    assert edits.value.tolist() == [3.0, 3.0]


def test_units_too_short_to_be_judged_are_not_measured() -> None:
    stage = Remove(
        "line", (("seen", Seen(min_tokens=2)), ("short", Length(tokens=Bounds(2, None))))
    )
    texts, _, _ = removed(stage, ["a b\nc\n\nd e f"])
    assert Seen.texts == ["a b", "d e f"]
    assert texts == ["a b\n\nd e f"]


@dataclass(frozen=True)
class Seen(Filter):
    """Notes what it measures, and fails nothing."""

    kind: ClassVar[str] = "seen"
    texts: ClassVar[list[str]] = []

    def rules(self) -> tuple[Rule, ...]:
        return (Rule("seen", "seen", Bounds(0, None)),)

    def measure(self, units: Units) -> Measures:
        self.texts[:] = units.strings
        return {"seen": np.ones(len(units))}


@dataclass(frozen=True)
class Foreign(Filter):
    """Fails units of documents that are not English."""

    kind: ClassVar[str] = "foreign"
    uses_model: ClassVar[bool] = True

    def needs(self) -> tuple[str, ...]:
        return ("language",)

    def rules(self) -> tuple[Rule, ...]:
        return (Rule("foreign", "language", "en"),)

    def takes(self) -> tuple[str, ...]:
        return ()

    def measure(self, units: Units) -> Measures:
        return {"language": units.value("language")}

    def failures(self, measures: Measures) -> list[Flags]:
        other = pc.not_equal(measures["language"], "en")
        return [other.fill_null(False).to_numpy(zero_copy_only=False)]


def test_what_filters_need_is_their_documents() -> None:
    stage = Remove(
        "line", (("foreign", Foreign()), ("rule", MeasureRule("earlier.score", min=0.5)))
    )
    assert stage.needs() == ("language", "earlier.score")
    assert [rule.measure for rule in stage.rules()] == ["language", "earlier.score"]
    known: Mapping[str, Any] = {
        "language": pa.array(["en", "de", "en"], pa.large_string()),
        "earlier.score": np.array([0.5, 0.9, 0.4]),
    }
    units = Units(pa.array(["a\nb", "c\nd", "e"], pa.large_string()), known)
    edits, _ = stage.rewrite(units)
    assert edits.unit.tolist() == [1, 1, 2]
    assert edits.rule.tolist() == [1, 1, 2]
    assert np.isnan(edits.value[0]) and edits.value[2] == 0.4


def test_what_is_inside_decides_whether_it_runs_a_model() -> None:
    assert not Remove("line", SHORT).uses_model
    assert Remove("line", (*SHORT, ("foreign", Foreign()))).uses_model


def test_parameters_alone_travel() -> None:
    stage = Remove("sentence", (*SHORT, *LOUD))
    assert pickle.loads(pickle.dumps(stage)) == stage
    assert hash(stage) == hash(pickle.loads(pickle.dumps(stage)))


def test_faults() -> None:
    assert build(Remove, {"unit": "word"}, ready={"failing": SHORT})[1] == [
        (("unit",), "expected 'paragraph', 'line' or 'sentence', got \"word\"")
    ]
    assert build(Remove, {"unit": "line"}, ready={"failing": ()})[1] == [
        ((), "expected at least one filter")
    ]
    assert build(Remove, {"unit": "line"}, ready={"failing": (("length", Length()),)})[1] == [
        ((), '"length" has no bounds: no unit would ever fail it')
    ]


TEXTS = st.lists(
    st.text(st.sampled_from("aB1 .!\n\r\t。？…”好\u3000é🎉\u00a0"), max_size=30), max_size=6
)


@given(TEXTS, st.sampled_from(["paragraph", "line", "sentence"]), st.integers(0, 6))
def test_a_batch_may_be_split_anywhere(texts: list[str], unit: SubUnit, at: int) -> None:
    stage = Remove(unit, (*SHORT, *LOUD))
    left, edits, measures = removed(stage, texts)
    first, second = removed(stage, texts[:at]), removed(stage, texts[at:])
    assert left == first[0] + second[0]
    assert edits.rule.tolist() == [*first[1].rule, *second[1].rule]
    assert edits.value.tolist() == [*first[1].value, *second[1].value]
    for name in stage.takes():
        assert measures[name].tolist() == [*first[2][name], *second[2][name]]
