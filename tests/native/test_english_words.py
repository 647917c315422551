"""datatrove's words, of which the measures alone are seen: signs in every company."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cleanpipe import _native

from .reference_measures import REFERENCE, datatrove_words
from .test_measures import differences

NAMES = [name for name in REFERENCE if name.startswith("datatrove_")]

SIGNS = st.sampled_from(
    [*"aaBBzZ01 .,:;!?'’\"()[]<>=/-–—~+*^@|\\#%$_&…§©€éÉ１١好，\n\x00\u0301\u200d"]
)
PIECES = st.sampled_from(
    ["n't", "'S", "’ll", "'re", "N’T", "..", "...", "http://", "a://", "a@", ".co", ".b", "U.S."]
    + [".co/", "b-c", ":80", "the", "of "]
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        (" \t\n", ""),
        ("word", "word"),
        (
            "(Don't e-mail a.b@c-d.com…)",
            "( Do n't e - mail a.b@c-d.com … )",
        ),
        ('"It’s 5:30," he said...', '" It ’s 5:30 , " he said ...'),
        ("and/or 2020-08-01 a.m.", "and / or 2020 - 08 - 01 a.m ."),
        ("天气很好，真的。\r\n“好”", "天气很好，真的 。 “ 好 ”"),
        ("שלום, עולם!", "שלום , עולם !"),
        ("🎉🎉 a❤", "🎉 🎉 a ❤"),
    ],
)
def test_by_hand(text: str, words: str) -> None:
    assert datatrove_words(text) == words.split()
    assert differences([text], NAMES) == []


@settings(max_examples=500, deadline=None)
@given(st.lists(SIGNS | PIECES, max_size=24).map("".join))
def test_they_equal_the_reference(text: str) -> None:
    """Twice, too, so that n-grams that were met tell one cut from another."""
    assert differences([text, f"{text} {text}"], NAMES) == []


@settings(deadline=None)
@given(st.lists(SIGNS.map(str.encode) | st.sampled_from([b"\x80", b"\xe2\x80", b"\xff"])))
def test_ill_formed_texts(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    assert differences([data, data + b" " + data], NAMES) == []


@pytest.mark.parametrize("sign", ["-", ".", "a.", "a@", "~a", "'s", "a:", "(", "a..", "’"])
def test_long_words(sign: str) -> None:
    """A megabyte, within the test's time only where it is read once."""
    assert differences([sign * 500], NAMES) == []
    column = pa.array([sign * (2**20 // len(sign))], pa.large_string())
    assert _native.measures(column, tuple(NAMES)).shape == (len(NAMES), 1)
