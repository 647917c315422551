"""Code tokens against their document and their reference."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cleanpipe import _native

from ..times import ratio
from . import reference_tokens as reference
from .hostile import TEXTS as HOSTILE
from .hostile import array_of
from .test_hostile import MOST, PAGES, SIZE
from .test_ngrams import gram
from .test_tokens import CLASS, CODES, TEXTS, code_spans, rows_below, strings

Span = tuple[int, int, int]


def spans(texts: Sequence[bytes | str | None]) -> list[list[Span]]:
    offsets, *columns = (column.tolist() for column in _native.tokens(strings(texts), code=True))
    found = list(zip(*columns, strict=True))
    return [found[a:b] for a, b in pairwise(offsets)]


def expected(text: bytes | str | None) -> list[Span]:
    return [(t.start, t.end, t.hash) for t in reference.code_tokens(b"" if text is None else text)]


@pytest.mark.parametrize("row", rows_below("## Code tokens"), ids=lambda row: row[0])
def test_examples_of_the_document(row: list[str]) -> None:
    [text], shown = code_spans(row[1]), code_spans(row[2])
    assert [hash_ for _, _, hash_ in spans([text])[0]] == [
        reference.token_hash(token) for token in shown
    ]
    assert [token.folded for token in reference.code_tokens(text)] == shown


def test_hashes_of_the_document() -> None:
    rows = rows_below("| code token | hash |\n")
    assert len(rows) == 6
    for token, shown in ((code_spans(a)[0], code_spans(b)[0]) for a, b in rows):
        assert [f"{hash_:016x}" for _, _, hash_ in spans([token])[0]] == [shown]


# Written down once more, so that no edit of document and code together changes them unnoticed.
def test_golden_hashes() -> None:
    assert spans(["_ [ {"]) == [
        [(0, 1, 0x28BE78BEB1883782), (2, 3, 0x9767179DF61183DF), (4, 5, 0xE1087E17581ADD55)]
    ]
    assert spans(["Has_Close_Elements"]) == [[(0, 18, 0x0155F7896889238D)]]


def kind(code: int) -> str:
    """`run`, `cluster`, `mark`, `silent`, `single` or `between`."""
    if CLASS[code] != "other":
        return CLASS[code]
    if chr(code) == "_":
        return "run"
    unseen = code < 32 or 127 <= code < 160 or code == 0xFFFD or code in UNSEEN
    return "between" if unseen else "single"


UNSEEN = reference.SETS["whitespace"] | reference.SETS["Cf"]


def test_every_code_point() -> None:
    kinds = [kind(code) for code in CODES]
    alone = {"run": 1, "cluster": 1, "mark": 1, "silent": 0, "single": 1, "between": 0}
    amid = {"run": 1, "cluster": 3, "mark": 1, "silent": 1, "single": 3, "between": 2}
    for pattern, counts in (("{}", alone), ("a{}b", amid), ("_{}b", amid)):
        offsets, _, _, hashes = _native.tokens(
            pa.array([pattern.format(chr(code)) for code in CODES]), code=True
        )
        wrong = np.flatnonzero(np.diff(offsets) != [counts[kind] for kind in kinds])
        assert [hex(CODES[at]) for at in wrong] == []
        if pattern == "{}":
            for at, code in enumerate(CODES[:0x3100]):
                if kinds[at] == "single":
                    assert hashes[offsets[at]] == reference.token_hash(chr(code))


def test_no_two_operators_are_alike() -> None:
    visible = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    found = spans(visible)
    assert [len(one) for one in found] == [1] * len(visible)
    assert len({one[0][2] for one in found}) == len(visible)


PIECES = st.sampled_from(
    ["a", "B", "_", "__", "é", "É", "我", "ｶﾞ", "=", "==", "[", "{", " ", "\n", "\u0301", "\u200d"]
    + ["\ufe0f", "\xad", "\x00", "\x85", "\ufffd", "👍", "ab_cd_EF_gh", "9", "ﾞ", "\u3000", "ไ"]
)
CODE = st.lists(PIECES, max_size=20).map("".join)
BYTES = st.lists(PIECES.map(str.encode) | st.binary(max_size=4), max_size=15).map(b"".join)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.none() | CODE | BYTES | TEXTS, max_size=5))
@example([b"a_\xe2\x82b", b"\xff_", "", None, "_" * 17, "[" * 9, "É_abcdefgh"])
def test_equals_the_reference(texts: list[bytes | str | None]) -> None:
    assert spans(texts) == [expected(text) for text in texts]


@given(st.lists(CODE, max_size=3), st.integers(1, 5))
def test_ngrams(texts: list[str], n: int) -> None:
    offsets, hashes = _native.ngrams(pa.array(texts, pa.string()), n, code=True)
    for text, (a, b) in zip(texts, pairwise(offsets.tolist()), strict=True):
        tokens = [token.hash for token in reference.code_tokens(text)]
        width = min(n, len(tokens))
        places = range(len(tokens) - width + 1) if width else range(0)
        assert hashes[a:b].tolist() == [gram(tokens[at : at + width]) for at in places]


@given(TEXTS.filter(str.isalnum))
def test_a_word_has_one_hash(text: str) -> None:
    kept = "".join(c for c in text if reference.token_class(ord(c)) in ("run", "cluster"))
    assert spans([kept])[0] == list(
        zip(*(column.tolist() for column in _native.tokens(strings([kept]))[1:]), strict=True)
    )


@pytest.mark.parametrize(
    "name", ["'…'", "a tag without an end", "letters at random", repr(b"\xff")]
)
def test_time_is_linear(name: str) -> None:
    short, long = (
        partial(_native.tokens, array_of(HOSTILE[name](size)), code=True)
        for size in (SIZE, 4 * SIZE)
    )
    assert ratio(long, short, MOST, PAGES * 4 * SIZE) < MOST
