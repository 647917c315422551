"""Parts of texts for fastText models, against the slow reference."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cleanpipe import _native

from .hostile import TEXTS as HOSTILE
from .reference_parts import line_of, part_of
from .test_tokens import Exports, strings


def lines(texts: Any, characters: int = 0, stretch: int = 0, **how: bool) -> list[bytes]:
    offsets, data = _native.model_parts(texts, characters, stretch, **how)
    assert [offsets.dtype, data.dtype] == [np.int64, np.uint8]
    assert (offsets[0], offsets[-1]) == (0, len(data))
    return [data[a:b].tobytes() for a, b in pairwise(offsets.tolist())]


PIECES = [
    *("</s>", "</s", "<", "\n", "\r\n", "\0", " ", "12", "...", "é", "É", "ß", "ẞ", "İ", "ı"),
    *("ΟΔΟΣ", "οδός", "Σ", "word ", "WORD ", "Mixed ", "今天", "ひ", "カ", "\U00020000", "한국"),
    *("ไทย", "Ф", "ф", "\U00010400", "\U00010428", "🄰", "😀", "\u0301", "\u200b", "ª", "ⅷ", "Ⅷ"),
]
"""All older than Unicode 14, so that every Python reads them as the tables do."""

TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@given(
    st.lists(TEXTS, max_size=5),
    st.integers(0, 60),
    st.integers(0, 12),
    st.booleans(),
    st.booleans(),
)
@example(["ΟΔΟΣ ΟΔΟΣ", "İSTANBUL", "</s>", "AB ab", "</</s>s>"], 0, 0, True, True)
@example(["今天 WORD" * 9], 21, 7, True, True)
def test_equal_to_the_reference(
    texts: list[str], characters: int, stretch: int, spaced: bool, lowered: bool
) -> None:
    expected = [
        line_of(part_of(text, characters, stretch), spaced=spaced, lowered=lowered)
        for text in texts
    ]
    found = lines(strings(texts), characters, stretch, spaced=spaced, lowered=lowered)
    assert found == expected


@pytest.mark.parametrize("size", [0, 1, 149, 150, 151, 225, 1499, 1500, 1501, 1502, 9999])
@pytest.mark.parametrize("characters", [1, 75, 149, 150, 1500])
def test_samples_are_spread_from_the_beginning_to_the_end(size: int, characters: int) -> None:
    text = "".join(chr(0x20000 + place) for place in range(size))
    [line] = lines(strings([text]), characters, 75)
    found = line.decode().removesuffix("\n")
    if size <= characters:
        assert found == text
    elif characters < 150:
        assert found == text[:characters]
    else:
        stretches = found.split(" ")
        assert [len(stretch) for stretch in stretches] == [75] * (characters // 75)
        assert all(stretch in text for stretch in stretches)
        starts = [text.index(stretch) for stretch in stretches]
        steps = np.diff(starts)
        assert (starts[0], starts[-1]) == (0, size - 75)
        assert steps.max() - steps.min() <= 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", b""),
        (" \n\0 12 ... </s>", b""),
        ("a\nb\r\nc", b"a b\r c\n"),
        ("a</s>b", b"a b\n"),
        ("abcdefgh", b"abcdefgh\n"),
        ("ABCDEFGH", b"abcdefgh\n"),
        ("ABCDefgh", b"ABCDefgh\n"),  # exactly half
        ("ABCDEfgh", b"abcdefgh\n"),
        ("中文 A 😀", " 中  文  a 😀\n".encode()),
        ("१२३ ٤٥٦", b""),
    ],
)
def test_what_becomes_of_a_text(text: str, line: bytes) -> None:
    assert lines(strings([text]), spaced=True, lowered=True) == [line]


def test_a_null_has_none_and_slices_are_honoured() -> None:
    texts = pa.array(["x", "one", None, "two", "y"], pa.large_string())[1:4]
    assert lines(texts) == [b"one\n", b"", b"two\n"]
    assert lines(Exports(texts.__arrow_c_array__())) == lines(texts)


def test_hostile_texts() -> None:
    """Whatever comes, each line is UTF-8 with one line feed, or empty."""
    texts = strings([make(900) for make in HOSTILE.values()])
    for characters, stretch in ((0, 0), (7, 0), (30, 7)):
        for line in lines(texts, characters, stretch, spaced=True, lowered=True):
            assert line == b"" or (line.endswith(b"\n") and line.count(b"\n") == 1)
            assert b"</s>" not in line
            line.decode()


@pytest.mark.parametrize(("characters", "stretch"), [(-1, 0), (0, -1)])
def test_negative_numbers(characters: int, stretch: int) -> None:
    with pytest.raises(ValueError, match="at least 0"):
        lines(strings(["a"]), characters, stretch)
