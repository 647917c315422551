"""Texts without tags and entities, against the definitions in docs/measures.md."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cleanpipe import _native

from .hostile import TEXTS as HOSTILE
from .reference_measures import ENTITY, TAG
from .test_markup import PIECES
from .test_tokens import Exports, strings

# All that they are about is ASCII, so bytes will do, well-formed or not.
EITHER = re.compile(f"{TAG.pattern}|{ENTITY.pattern}".encode())


def expected(text: bytes | None) -> bytes:
    return EITHER.sub(lambda found: b" " * len(found[0]), text or b"")


def without(texts: Any) -> list[bytes]:
    offsets, data = _native.without_markup(texts)
    assert [offsets.dtype, data.dtype] == ["i8", "u1"]
    assert (offsets[0], offsets[-1]) == (0, len(data))
    return [data[a:b].tobytes() for a, b in pairwise(offsets.tolist())]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a<br>b &amp; c", "a    b       c"),
        ("<p class='a'>好</p>", " " * 13 + "好" + " " * 4),
        ("<好>", "<好>"),
        ("<a 好>é", " " * 7 + "é"),
        ("<!-- a --> <!doctype html> <!-> <!>", " " * 10 + " " + " " * 15 + " <!-> <!>"),
        ("<a &amp; >", " " * 10),
        ("&lt;b&gt;", "    b    "),
        ("&#123; &#x1F600; &nbsp &#; &a;", " " * 17 + "&nbsp &#; &a;"),
        # In a URL too, where the measure html_entities does not count them.
        ("http://a.b?c=1&amp;d=2", "http://a.b?c=1     d=2"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        # What is left is not looked at again.
        ("<a <b>>", "<a    >"),
        ("<a<br>", "<a    "),
        ("&am<br>p;", "&am    p;"),
    ],
)
def test_examples(text: str, shown: str) -> None:
    assert without(pa.array([text])) == [shown.encode()]


MARKUP = [b"<a>", b"</a", b"<!--", b"-->", b"&amp;", b"&#1", b"&#x", b";", b">", b"<b c>"]
BYTES = st.lists(st.sampled_from([*PIECES, *MARKUP]) | st.binary(max_size=3), max_size=30).map(
    b"".join
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.none() | BYTES, max_size=4), st.booleans())
@example([b"&" + b"a" * 32 + b";", b"&" + b"a" * 33 + b";", b"&#1234567;&#12345678;"], True)
@example([b"<\xff>", b"<a\xff>", b"<a>\xe5", b"\xe5<a>", None, b""], False)
def test_equals_the_reference(texts: list[bytes | None], large: bool) -> None:
    assert without(strings(texts, large)) == [expected(text) for text in texts]


@given(BYTES)
def test_what_holds_of_every_text(text: bytes) -> None:
    [left] = without(strings([text]))
    assert len(left) == len(text)
    assert all(now in (before, ord(" ")) for now, before in zip(left, text, strict=True))
    assert not re.search(ENTITY.pattern.encode(), left)
    assert _native.measures(strings([left]), ("html_entities",)) == [[0]]
    # A tag that was none before had one in it.
    for tag in re.finditer(TAG.pattern.encode(), left):
        assert re.search(rb"[<>]", text[tag.start() + 1 : tag.end() - 1])


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts(name: str) -> None:
    text = HOSTILE[name](3000)
    assert without(strings([text, text[1:]])) == [expected(text), expected(text[1:])]


@given(st.lists(st.none() | BYTES, min_size=1, max_size=6), st.data())
def test_slices_chunks_and_streams(texts: list[bytes | None], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(texts)))
    last = data.draw(st.integers(first, len(texts)))
    array = strings(texts, large=True)
    want = [expected(text) for text in texts]
    assert without(array[first:last]) == want[first:last]
    assert without(pa.chunked_array([array[:first], array[first:]])) == want
    assert without(Exports(array.__arrow_c_array__())) == want


def test_the_text_stays_and_the_result_is_new() -> None:
    texts: Sequence[str] = ["<a>", "b"]
    array = pa.array(texts)
    offsets, data = _native.without_markup(array)
    data[:] = 0
    assert array.to_pylist() == texts
    assert offsets.tolist() == [0, 3, 4]
    assert [each.size for each in _native.without_markup(pa.array([], pa.string()))] == [1, 0]
    assert np.all(_native.without_markup(pa.array([None, None], pa.string()))[0] == 0)


@pytest.mark.parametrize("texts", [["a"], "a", None, pa.array([1])])
def test_other_arguments(texts: Any) -> None:
    with pytest.raises(TypeError):
        _native.without_markup(texts)
