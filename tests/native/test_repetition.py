"""Measures of repeated n-grams: what repeats itself in many ways, long texts, long tokens."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .reference_measures import REFERENCE
from .test_measures import differences

NAMES = [name for name in REFERENCE if "gram" in name or name == "span_repeats"]

# text, values: some of those of several n.
CASES: list[tuple[str, dict[str, float]]] = [
    # Nothing is repeated: the first n-gram.
    (
        "a bb ccc dddd",
        {"top_2_gram_share": 3 / 10, "top_3_gram_share": 6 / 10, "top_4_gram_share": 1},
    ),
    # Overlapping occurrences count, but no character twice.
    (
        "a a a a",
        {
            "top_2_gram_share": 1,
            "dolma_top_2_gram_share": 3 * 2 / 4,
            "dolma_top_3_gram_share": 2 * 3 / 4,
            "datatrove_top_4_gram_share": 1 * 7 / 7,
        },
    ),
    # Of equally frequent ones that which occurs first, not that which is repeated first.
    (
        "x yy z z yy x yy",
        {
            "top_2_gram_share": 6 / 10,
            "dolma_top_2_gram_share": 2 * 3 / 10,
            "top_3_gram_share": 4 / 10,
            "top_4_gram_share": 5 / 10,
        },
    ),
    ("x yy q z w z w x yy", {"top_2_gram_share": 6 / 11, "dolma_top_2_gram_share": 2 * 3 / 11}),
    # Case does not matter but to datatrove, characters do: the first occurrence's own.
    (
        "Ab\u200dc d. ABC D!",
        {
            "top_2_gram_share": 1,
            "datatrove_top_2_gram_share": 1 * (5 + 1) / 14,
            "dolma_top_2_gram_share": 2 * 5 / 11,
            "dolma_top_3_gram_share": 8 / 11,
        },
    ),
    (
        "我爱我爱我",
        {
            "top_2_gram_share": 4 / 5,
            "top_3_gram_share": 1,
            "dolma_top_3_gram_share": 2 * 3 / 5,
            "top_4_gram_share": 4 / 5,
            "duplicate_5_gram_share": 0,
            "span_repeats": 2,
        },
    ),
    (
        "a " * 12,
        {
            "datatrove_duplicate_5_gram_share": 10 / 24,
            "datatrove_duplicate_6_gram_share": 6 / 24,
            "datatrove_duplicate_10_gram_share": 10 / 24,
            "dolma_duplicate_10_gram_share": 1,
            "span_repeats": 12,
        },
    ),
    # datatrove, n = 6: after the known abcdef at 6 reading goes on at 12, so bcdefg at 7 is never
    # met, and the one at 14 is the first.
    (
        "a b c d e f a b c d e f g h b c d e f g",
        {
            "duplicate_5_gram_share": 19 / 20,
            "datatrove_duplicate_5_gram_share": 10 / 39,
            "datatrove_duplicate_6_gram_share": 6 / 39,
            "dolma_duplicate_5_gram_share": 35 / 80,
            "dolma_duplicate_6_gram_share": 24 / 90,
            "duplicate_7_gram_share": 0,
            "span_repeats": 2,
        },
    ),
    # A span of 13 tokens is one, of 14 is none.
    ("a b c d e f g h i j k l m " * 3, {"span_repeats": 3, "duplicate_10_gram_share": 1}),
    ("a b c d e f g h i j k l m n " * 3, {"span_repeats": 1, "duplicate_10_gram_share": 1}),
    # The run need not begin at a multiple of anything, nor end with a whole span.
    ("q w e r t a b a b a b a x", {"span_repeats": 3, "top_2_gram_share": 6 / 13}),
]


@pytest.mark.parametrize(("text", "values"), CASES)
def test_by_hand(text: str, values: dict[str, float]) -> None:
    assert {name: REFERENCE[name](text) for name in values} == values
    assert differences([text]) == []


WORDS = st.sampled_from(["a", "b", "B", "cc", "Ccc", "é", "中", "文", "incomprehensibilities"])


@st.composite
def periodic(draw: st.DrawFn) -> list[str]:
    """Pieces that come back, whole or cut off, at once or later."""
    pieces = draw(st.lists(st.lists(WORDS, min_size=1, max_size=15), min_size=1, max_size=3))
    words: list[str] = []
    for _ in range(draw(st.integers(1, 5))):
        piece = draw(st.sampled_from(pieces)) * draw(st.integers(1, 4))
        words += piece[draw(st.integers(0, 2)) : len(piece) - draw(st.integers(0, 2))]
    return words


TWO_WORDS = st.lists(st.sampled_from("ab"), max_size=60)
SOME_WORDS = st.lists(WORDS, max_size=60)
TEXTS = st.one_of(TWO_WORDS, SOME_WORDS, periodic()).map(" ".join)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(TEXTS | st.text("ab 中é\u0301\u200d", max_size=50), max_size=4),
    st.lists(st.sampled_from(NAMES), unique=True),
)
def test_they_equal_the_reference(texts: list[str], names: list[str]) -> None:
    """Some of them, and all."""
    assert differences(texts, names) == []
    assert differences(texts, NAMES) == []


def long_texts() -> list[str]:
    random = np.random.default_rng(3)
    words = [f"w{number:x}" for number in range(3_000)]
    zipf = [words[i % 3_000] for i in random.zipf(1.3, 4_000)]
    return [
        " ".join(f"t{number}" for number in range(12_000)),
        " ".join(zipf),
        " ".join(zipf[:500] * 3),
        "".join(chr(0x4E00 + i) for i in random.integers(0, 300, 5_000)),
        "".join(chr(0x4E00 + i) for i in random.integers(0, 2, 3_000)),
    ]


def test_long_texts() -> None:
    """Tables that grow, and are used again by shorter texts."""
    assert differences([*long_texts(), "a a", "b c b c", *long_texts()[::-1], "d"], NAMES) == []


@pytest.mark.parametrize("letter", ["a", "é", "अ", "𐐨"])
def test_characters_of_every_length_of_token(letter: str) -> None:
    """Also at the end of a text, behind which nothing may be read."""
    tokens = [letter * size for size in range(1, 40)]
    texts = [f"{head}{token}{tail}" for token in tokens for head, tail in HEADS_AND_TAILS]
    assert differences(texts, NAMES) == []


HEADS_AND_TAILS = [("", " x"), ("x ", ""), ("", " " + "y" * 9), ("x y z ", " x y z")]
