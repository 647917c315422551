"""``repetition``: within a text at the bounds, and against what a document said before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleanpipe import Pipeline, _native
from cleanpipe.errors import ConfigError
from cleanpipe.filters.repetition import Repetition
from cleanpipe.parse import document_of, parse_spec
from cleanpipe.stage import Rewriter
from cleanpipe.text import segments
from cleanpipe.units import Units

from .table import faults, made, table

LINES = {"duplicate_line_share": [None, 0.5]}
TOP = {"top_2_gram_share": [None, 0.5]}
SPANS = {"span_repeats": {"below": 32}}

test_repetition = table(
    Repetition,
    [
        ("a\na\nb\nb", LINES, None),
        ("a\na\na\nb\nb", LINES, "duplicate_line_share"),
        ("a\na\nb\nb", {"duplicate_line_share": {"below": 0.5}}, "duplicate_line_share"),
        ("a\r\na\r\nb\r\n", {"duplicate_line_share": [1 / 3, 1 / 3]}, None),
        ("天气\n天气\n好", {"duplicate_line_share": [None, 0.3]}, "duplicate_line_share"),
        (
            "xx\nxx\ny",
            {"duplicate_line_character_share": [None, 0.3]},
            "duplicate_line_character_share",
        ),
        ("xx\nxx\ny", {"duplicate_line_character_share": [None, 0.4]}, None),
        ("a\nb\n\na\nb\n\nc", {"duplicate_paragraph_share": [None, 1 / 3]}, None),
        (
            "a\nb\n\na\nb",
            {"duplicate_paragraph_share": [None, 1 / 3]},
            "duplicate_paragraph_share",
        ),
        (
            "好天\n\n好天\n\n气",
            {"duplicate_paragraph_character_share": [None, 0.3]},
            "duplicate_paragraph_character_share",
        ),
        ("a b c d a b e f", TOP, None),
        ("a b c a b e f", TOP, "top_2_gram_share"),
        ("天气很好天气不错", TOP, None),
        ("天气好天气不错", TOP, "top_2_gram_share"),
        ("a b c x a b c y", {"top_3_gram_share": [None, 0.7]}, "top_3_gram_share"),
        ("a b c d x a b c d y", {"top_4_gram_share": [None, 0.8]}, None),
        ("a b c d e x a b c d e", {"duplicate_5_gram_share": [None, 10 / 11]}, None),
        (
            "a b c d e x a b c d e",
            {"duplicate_5_gram_share": {"below": 10 / 11}},
            "duplicate_5_gram_share",
        ),
        ("a b c d e f " * 2, {"duplicate_6_gram_share": [None, 0.9]}, "duplicate_6_gram_share"),
        ("我们去公园散步" * 2, {"duplicate_7_gram_share": [None, 0.9]}, "duplicate_7_gram_share"),
        ("我们去公园散步" * 2, {"duplicate_8_gram_share": [None, 0.9]}, None),
        ("我们去公园散步吧" * 2, {"duplicate_8_gram_share": [1, None]}, None),
        ("abc " * 20, {"duplicate_9_gram_share": [None, 0.9]}, "duplicate_9_gram_share"),
        ("abc " * 20, {"duplicate_10_gram_share": [None, 0.9]}, "duplicate_10_gram_share"),
        ("a " * 31, SPANS, None),
        ("a " * 32, SPANS, "span_repeats"),
        ("好好学习" * 32, SPANS, "span_repeats"),
        ("好好学习" * 31, SPANS, None),
        (" ".join("abcdefghijklm") + " x", SPANS, None),
        ("a b c d e f g h i j k l m " * 32, SPANS, "span_repeats"),
        ("a b c d e f g h i j k l m n " * 32, SPANS, None),
        ("the cat the cat sat", {"top_2_gram_share": [None, 0.7]}, "top_2_gram_share"),
        ("", {**LINES, **TOP, **SPANS}, None),
        ("word", {**LINES, **SPANS}, None),
        ("word word", TOP, "top_2_gram_share"),
        ("a" * 1000, {**TOP, **SPANS}, None),
        ("🎉" * 40, {**TOP, **SPANS}, None),
        ("שלום " * 32, SPANS, "span_repeats"),
        ("مرحبا بالعالم", {"top_3_gram_share": [None, 0]}, None),
        ("a b " * (1 << 18), SPANS, "span_repeats"),
        # Readings: 10 of 10 token characters; 2 x 3 of 11; 2 x 2 of 6.
        ("a b a b c d", {"top_2_gram_share": [4 / 6, 4 / 6]}, None),
        ("a b a b c d", {"variant": "datatrove", "top_2_gram_share": [6 / 11, 6 / 11]}, None),
        ("a b a b, c d", {"variant": "dolma", "top_2_gram_share": [4 / 7, 4 / 7]}, None),
        (
            "天 气 很 好 天 气 很 好",
            {"variant": "datatrove", "top_4_gram_share": [None, 0.9]},
            "top_4_gram_share",
        ),
        ("a\na\nb c d e f g", {**LINES, "span_repeats": [None, 1]}, "span_repeats"),
    ],
)


def test_what_is_taken() -> None:
    bounds = {"duplicate_5_gram_share": [None, 0.5], "duplicate_line_share": [None, 0.5]}
    stage = made(Repetition, {**bounds, "variant": "dolma"})
    assert stage.takes() == ("duplicate_line_share", "dolma_duplicate_5_gram_share")
    assert made(Repetition, bounds).takes() == ("duplicate_line_share", "duplicate_5_gram_share")


SEEN: dict[str, Any] = {"against": "document", "share": [None, 0.5], "ngram": 3}


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        ({"variant": "dolma", **LINES}, "variant: changes n-gram shares only, and none is bounded"),
        ({**LINES, "against": "document"}, "against: belongs to share, which is not bounded"),
        ({**LINES, "ngram": 3}, "ngram: belongs to share, which is not bounded"),
        ({**SEEN, "ngram": 0}, "ngram: expected at least 1, got 0"),
        ({**SEEN, "against": None}, "share: expected against: document beside it"),
        ({**SEEN, "ngram": None}, "share: expected ngram beside it, the number of tokens a gram"),
    ],
)
def test_what_does_not_fit_together(parameters: dict[str, Any], found: str) -> None:
    assert faults(Repetition, parameters) == [found]


def test_without_bounds_it_says_so() -> None:
    (said,) = faults(Repetition, {})
    assert said.startswith(": expected bounds on at least one of duplicate_line_share, ")
    assert said.endswith(", span_repeats, share")


@pytest.mark.parametrize(
    "stage",
    [
        {"repetition": SEEN},
        {"repetition": {"per": "source", "cases": {"a": SEEN}, "else": "keep"}},
    ],
)
def test_documents_have_nothing_before_them(stage: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="compares paragraphs, lines or sentences of a document"):
        Pipeline.from_dict({"stages": [stage]})


# ---- against the document ----


def rewritten(unit: str, parameters: dict[str, Any], *texts: str) -> list[str]:
    remove = {"unit": unit, "failing": [{"repetition": {**SEEN, **parameters}}]}
    found: list[str] = (
        Pipeline.from_dict({"stages": [{"remove": remove}]})
        .run(list(texts))
        .kept["text"]
        .to_pylist()
    )
    return found


FIRST = "one two three four five"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        # 2 of 4 grams are there before: at the bound; 2 of 3, beyond it.
        (f"{FIRST}\n\none two three four x y", None),
        (f"{FIRST}\n\none two three four x", FIRST),
        (f"{FIRST}\r\n\r\nOne, TWO three four: x!", FIRST),
        (f"x one two three\n\n{FIRST}", None),
        # A passage that a paragraph repeats within itself is not there before.
        ("a b c a b c a b c", None),
        # What was removed was there all the same.
        (f"{FIRST}\n\n{FIRST} six\n\nfour five six", FIRST),
        ("a b\n\na b c\n\na b\n\nx", "a b\n\na b c\n\nx"),
        ("!!!\n\n!!!", None),
        ("🎉\n\n🎉", None),
        ("今天天气很好\n\n昨天说今天天气很好", "今天天气很好"),
        ("今天天气很好\n\n昨天说了今天天气", None),
        ("שלום עולם טוב\n\nשלום עולם טוב", "שלום עולם טוב"),
        ("", None),
        ("word", None),
    ],
)
def test_paragraphs(text: str, left: str | None) -> None:
    expected = text if left is None else left
    assert rewritten("paragraph", {}, text) == [expected]
    # Other documents are no part of it, and neither is where it stands in the batch.
    assert rewritten("paragraph", {}, FIRST, text, FIRST) == [FIRST, expected, FIRST]


def test_sentences_and_lines() -> None:
    assert rewritten("sentence", {}, "今天天气很好。是的。今天天气很好！") == [
        "今天天气很好。是的。"
    ]
    assert rewritten("line", {}, "a b c\nd\na b c\ne") == ["a b c\nd\ne"]
    assert rewritten("line", {"min_tokens": 4}, "a b c\nd\na b c\n") == ["a b c\nd\na b c\n"]


def test_the_first_repeated_passage_is_evidence() -> None:
    text = ["One, two: three four", "é x one two (three) four y one two three", "a", "a", "z"]
    units = Units(pa.array(text, pa.large_string()), document=np.zeros(5, np.int64))
    stage = made(Repetition, {**SEEN, "share": [None, 0]})
    measures = stage.measure(units)
    codes = stage.judge(measures)
    assert codes.tolist() == [0, 1, 0, 1, 0]
    rows = np.flatnonzero(codes)
    theirs = {name: value[rows] for name, value in measures.items()}
    found = stage.evidence(units.take(rows), codes[rows], theirs)
    assert [each.match for each in found] == ["one two (three) four", "a"]
    assert (found[0].start, found[0].end) == (5, 25)


def seen_shares(units: list[str], document: list[int], n: int) -> list[float]:
    """Slow and obvious."""
    shares = []
    for at, unit in enumerate(units):
        earlier = {
            gram
            for other in range(at)
            if document[other] == document[at]
            for gram in grams(units[other], n)
        }
        mine = grams(unit, n)
        shares.append(sum(gram in earlier for gram in mine) / len(mine) if mine else 0.0)
    return shares


def grams(text: str, n: int) -> list[tuple[int, ...]]:
    tokens = _native.tokens(pa.array([text], pa.large_string()))[3].tolist()
    size = min(n, len(tokens))
    return [tuple(tokens[at : at + size]) for at in range(len(tokens) - size + 1)] if tokens else []


PARTS = st.lists(st.sampled_from([*"abc天气", "A", "! ", "\n\n"]), max_size=30).map(" ".join)


@given(st.lists(PARTS, max_size=4), st.integers(1, 4))
def test_it_equals_the_reference(texts: list[str], n: int) -> None:
    parts = segments(pa.array(texts, pa.large_string()), "paragraph")
    units = Units(parts.texts, document=parts.document)
    stage = made(Repetition, {**SEEN, "ngram": n})
    measures = stage.measure(units)
    expected = seen_shares(units.strings, parts.document.tolist(), n)
    assert measures["seen_share"].tolist() == expected
    shown = stage.evidence(units, np.ones(len(units), np.uint16), measures)
    for text, share, passage in zip(units.strings, expected, shown, strict=True):
        assert (passage is None) == (share == 0)
        if passage is not None:
            assert text.encode()[passage.start : passage.end].decode() == passage.match


def test_units_that_are_documents_repeat_nothing() -> None:
    units = Units(pa.array(["a b c", "a b c"], pa.large_string()))
    assert made(Repetition, SEEN).measure(units)["seen_share"].tolist() == [0, 0]


def test_remove_records_the_passage() -> None:
    failing = [{"length": {"tokens": [2, None]}}, {"repetition": SEEN}]
    spec = parse_spec(
        document_of({"stages": [{"remove": {"unit": "line", "failing": failing}}]}), "."
    )
    (remove,) = spec.steps[0].stages
    assert isinstance(remove, Rewriter)
    text = pa.array(["new\n" + FIRST, f"x\n{FIRST}\nso One two three!"], pa.large_string())
    edits, _ = remove.rewrite(Units(text))
    assert edits.unit.tolist() == [0, 1]
    assert edits.match == [None, None]
    text = pa.array([f"x y\n{FIRST}\nOne, two three four!"], pa.large_string())
    edits, _ = remove.rewrite(Units(text))
    assert edits.match == ["One, two three four"]
    assert edits.value.tolist() == [1]
