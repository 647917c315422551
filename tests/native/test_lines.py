"""Measures of lines and paragraphs: marks at their ends, tables of duplicates."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cleanpipe import _native

from .reference_measures import REFERENCE
from .test_measures import differences

NAMES = [name for name in REFERENCE if "line" in name or "paragraph" in name]

PIECES = [
    *(letter.encode() for letter in "aab.!-*•–…”'。好é \t\n\n\n\r\u00a0\u2028\u3000\u200b🎉"),
    *(bytes([byte]) for byte in b"\x80\x85\xa6\xbf\xc0\xc2\xe2\xe3\xed\xf0\xff"),
    *(b"...", b"x" * 27, b"\n\n", b"a\n", b"a\n\n", "好\n".encode()),
]


@example([b"\xe2\x80\n\xe2\x80\xa6\n\x80\xa6\n\xe2\n\xe2\x80 \n\xc2\x85\n"])
@example([b"a\n\nb\n\na", b"a\n\nb\n\na"])
@settings(max_examples=300)
@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join), max_size=6))
def test_they_equal_the_reference(texts: list[bytes]) -> None:
    assert differences(texts, NAMES) == []


@pytest.mark.parametrize("pattern", ["{} a", "-{}"])
def test_every_mark_at_both_ends(pattern: str) -> None:
    # All blocks that have marks of writing or whitespace; the rest is letters and unassigned.
    codes = [*range(0x3400), *range(0xF900, 0x10000), 0x1F389, 0xE0001]
    edges = [name for name in NAMES if "duplicate" not in name]
    assert differences([pattern.format(chr(code)) for code in codes], edges) == []


@pytest.mark.parametrize("number", [1, 31, 32, 33, 1000, 50_000])
def test_tables_grow(number: int) -> None:
    drawn = np.random.default_rng(0).integers(0, number, number).tolist()
    lines = "\n".join(map(str, drawn))
    paragraphs = "\n\n".join(f"{value}\nx" for value in [*drawn, -1])
    shares = ("duplicate_line_share", "duplicate_paragraph_share")
    found = _native.measures(pa.array([lines, paragraphs]), shares)
    again = number - len(set(drawn))
    assert found[0, 0] == again / number
    assert found[1, 1] == again / (number + 1)
