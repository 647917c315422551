"""Texts as they are shown, against the slow reference."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cleanpipe import _native

from ..times import within
from .hostile import TEXTS as HOSTILE
from .reference_plain import plain
from .test_markup import PIECES
from .test_tokens import Exports, strings


def shown(texts: Any) -> list[bytes]:
    offsets, data = _native.plain_texts(texts)
    assert [offsets.dtype, data.dtype] == ["i8", "u1"]
    assert (offsets[0], offsets[-1]) == (0, len(data))
    return [data[a:b].tobytes() for a, b in pairwise(offsets.tolist())]


WORDS = "two words " * 8


@pytest.mark.parametrize(
    ("text", "as_shown"),
    [
        ("a<br>b<hr/>", "a    b     "),
        ("<p class='a'>好</p>", " " * 13 + "好" + " " * 4),
        ("<a b=1 c>|<a\n/>|<br >|<script async src=x defer>", " " * 9 + "|     |     |" + " " * 26),
        # Prose, comparisons, comments: what is no tag.
        ("<How did you boot? USB>", "<How did you boot? USB>"),
        ("<how did you boot>", "<how did you boot>"),
        ("if a<b and c=5. Then x>3.", "if a<b and c=5. Then x>3."),
        ("if a <b and c = 5 then d > e", "if a <b and c = 5 then d > e"),
        ("for(i=0;i<n;i++) p->q", "for(i=0;i<n;i++) p->q"),
        ("<bob at example = com> quoted", " " * 22 + " quoted"),
        ("<好> 1 < 2 > 3 <", "<好> 1 < 2 > 3 <"),
        ("<!-- a --> <!doctype html> <!> <!x" + "y" * 61 + ">", None),
        # Long values are read, short ones are not.
        (f'<img alt="{WORDS}" src="x">', f"          {WORDS}" + " " * 10),
        (f"<a title='{'w' * 64}'>", " " * 76),
        (f"<a title='{'w' * 65}'>", " " * 10 + "w" * 65 + "  "),
        ('<a b="x<y">', '<a b="x<y">'),
        # Entities.
        ("b &amp; c &lt;x&gt; &nbsp;&foo;&a;", "b &     c <   x>" + " " * 15 + "&a;"),
        ("caf&#233;s", "café\U000e0100s"),
        ("&#20013;&#x6587;", "中     文     "),
        ("&#0; &#xD800; &#1114112;", None),
        # Escapes of JSON.
        ("\\u4e2d\\u6587 caf\\u00e9s", "中\u200d文\u200d café\U000e0100s"),
        ("\\ud83d\\ude00", "😀\U000e0100\U000e0100"),
        ("\\\\u4e2d \\u4e2 \\ux", "\\\\u4e2d \\u4e2 \\ux"),
        ("\\ud83d x", None),
        # What is left is not looked at again.
        ("&amp;lt; <a <b>>", "&    lt; <a    >"),
    ],
)
def test_examples(text: str, as_shown: str | None) -> None:
    [found] = shown(pa.array([text]))
    assert found == plain(text.encode())
    if as_shown is not None:
        assert found.decode() == as_shown


@pytest.mark.parametrize("text", ["caf\\u00e9s", "\\u4e2d\\u6587", "x&#233;y", "&#1103;"])
def test_words_go_on(text: str) -> None:
    data = shown(pa.array([text]))[0].decode()
    whole = data.replace("\u200d", "").replace("\U000e0100", "").replace(" ", "")
    hashes = [_native.tokens(pa.array([each]))[3].tolist() for each in (data, whole)]
    assert hashes[0] == hashes[1]


MARKUP = [b"<a>", b"</a", b"<!d", b"-->", b"&amp;", b"&#1", b"&#x4e", b";", b">", b"<b c=d", b"=",
          b"'", b'"', b" ", b"\\u", b"4e2d", b"\\ud83d", b"\\ude00", b"x" * 65]  # fmt: skip
BYTES = st.lists(st.sampled_from([*PIECES, *MARKUP]) | st.binary(max_size=3), max_size=30).map(
    b"".join
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.none() | BYTES, max_size=4), st.booleans())
@example([b"&" + b"a" * 32 + b";", b"&" + b"a" * 33 + b";", b"&#1234567;&#12345678;"], True)
@example([b"<\xff>", b"<a\xff>", b"<a>\xe5", b"\xe5<a>", None, b""], False)
@example([b"<a b='" + b"v" * 70 + b"' c=\"" + b"w" * 70 + b'" d e f>'], False)
def test_equals_the_reference(texts: list[bytes | None], large: bool) -> None:
    assert shown(strings(texts, large)) == [plain(text or b"") for text in texts]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts(name: str) -> None:
    text = HOSTILE[name](3000)
    assert shown(strings([text, text[1:]])) == [plain(text), plain(text[1:])]


@pytest.mark.parametrize("unit", ["<", "<a ", "<a b='", "&", "&#", "\\", "\\u", "<a b=c "])
def test_time_is_linear(unit: str) -> None:
    text = strings([unit * (4_000_000 // len(unit))])
    assert within(lambda: shown(text), 2)


@given(st.lists(st.none() | BYTES, min_size=1, max_size=6), st.data())
def test_slices_chunks_and_streams(texts: list[bytes | None], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(texts)))
    last = data.draw(st.integers(first, len(texts)))
    array = strings(texts, large=True)
    want = [plain(text or b"") for text in texts]
    assert shown(array[first:last]) == want[first:last]
    assert shown(pa.chunked_array([array[:first], array[first:]])) == want
    assert shown(Exports(array.__arrow_c_array__())) == want


def test_the_text_stays_and_the_result_is_new() -> None:
    texts: Sequence[str] = ["<a>", "b"]
    array = pa.array(texts)
    offsets, data = _native.plain_texts(array)
    data[:] = 0
    assert array.to_pylist() == texts and np.array_equal(offsets, [0, 3, 4])


def test_arguments() -> None:
    with pytest.raises(TypeError):
        _native.plain_texts(["a"])  # type: ignore[arg-type]
