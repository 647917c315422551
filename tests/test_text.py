"""Units and their removal, against slow, obvious Python."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cleanpipe import _native
from cleanpipe.text import SubUnit, removal_ranges, segments

from .native import reference_segments

UNITS: tuple[SubUnit, ...] = ("paragraph", "line", "sentence")

# What the docstring of cleanpipe/text.py lists, for the slow reference.
WIDE = "。！？…｡‼⁇⁈⁉।॥؟۔։።၊။។៕"
CLOSING = "\"')]}”’»›」』）】》〉〕〗〙〛］｝｣＂＇"
CLOSING_BEFORE_SPACE = "“‘«‹"
TITLES = ("Mr", "Mrs", "Ms", "Dr", "Prof", "St")


def units_of(text: str, unit: SubUnit) -> list[str]:
    return list(segments(pa.array([text], pa.large_string()), unit).texts.to_pylist())


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        (" \n\t\r\n\u3000\n", []),
        ("word", ["word"]),
        ("a\nb", ["a", "b"]),
        ("\n\na\r\n\r\n  b  \n", ["a", "  b"]),
        ("a\rb\x0bc\u2028d\x85e", ["a\rb\x0bc\u2028d\x85e"]),
        ("天气\n很好\n", ["天气", "很好"]),
        ("🎉\nשלום\nสวัสดี", ["🎉", "שלום", "สวัสดี"]),
        ("a\x00b\n\x00", ["a\x00b", "\x00"]),
    ],
)
def test_lines(text: str, lines: list[str]) -> None:
    assert units_of(text, "line") == lines


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    [
        ("", []),
        ("a\nb", ["a", "b"]),
        ("a\nb\n\nc", ["a\nb", "c"]),
        ("a\r\nb\r\n \t\r\nc\r\n", ["a\r\nb", "c"]),
        ("\n\na\nb\n\n", ["a", "b"]),
        ("  a\n  b\n\n\n  c", ["  a\n  b", "  c"]),
        ("一\n二\n　\n三", ["一\n二", "三"]),
    ],
)
def test_paragraphs(text: str, paragraphs: list[str]) -> None:
    assert units_of(text, "paragraph") == paragraphs


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("word", ["word"]),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Wait... what?! No.", ["Wait...", "what?!", "No."]),
        ("Pi is 3.14, v1.0!x a.b", ["Pi is 3.14, v1.0!x a.b"]),
        ('He said "Go." (Then he went.) So.', ['He said "Go."', "(Then he went.)", "So."]),
        ("J. R. Smith of the U.S. Army.", ["J. R. Smith of the U.S. Army."]),
        ("Dr. No met Mrs. Peel, e.g. once. Ok.", ["Dr. No met Mrs. Peel, e.g. once.", "Ok."]),
        ("А. С. Пушкин, т.е. он. Да.", ["А. С. Пушкин, т.е. он.", "Да."]),
        ("It was 5. Then 6.", ["It was 5.", "Then 6."]),
        ("a line\nthe next. One", ["a line", "the next.", "One"]),
        ("  One.\r\n\tTwo.  ", ["One.", "Two."]),
        ("今天天气很好。我们去公园！好吗？好", ["今天天气很好。", "我们去公园！", "好吗？", "好"]),
        ("他说：“好。”然后走了……是吗？！不", ["他说：“好。”", "然后走了……", "是吗？！", "不"]),
        ("「行こう。」と言った。（はい。）", ["「行こう。」", "と言った。", "（はい。）"]),
        ("यह है।वह है॥", ["यह है।", "वह है॥"]),
        ("هل هذا؟نعم. لا", ["هل هذا؟", "نعم.", "لا"]),
        ("Er rief: „Komm!“ Dann ging er.", ["Er rief: „Komm!“", "Dann ging er."]),
        ("好。“再见”", ["好。", "“再见”"]),
        ("สวัสดีครับ ผมชื่อ\nสมชาย", ["สวัสดีครับ ผมชื่อ", "สมชาย"]),
        ("🎉! 🎉", ["🎉!", "🎉"]),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert units_of(text, "sentence") == sentences


def reference(text: str, unit: SubUnit) -> list[str]:
    slow = {"paragraph": reference_segments.paragraphs, "line": reference_segments.lines}
    return slow.get(unit, reference_segments.sentences)(text)


ALPHABET = "aAMrÉß1.!?\n\n\r\t \u3000\u00a0\u2028。！…”\"')“«»（）好字ไก्Аж🎉-\x00\x1c"
TEXTS = st.lists(st.text(st.sampled_from(ALPHABET), max_size=40), max_size=8)


@example(["！“", "1"], "sentence", 0)
@given(TEXTS, st.sampled_from(UNITS), st.integers(0, 3))
def test_it_equals_slow_python_in_slices(texts: list[str], unit: SubUnit, skip: int) -> None:
    array = pa.array(texts, pa.large_string()).slice(skip)
    found = segments(array, unit)
    expected = [reference(text, unit) for text in texts[skip:]]
    assert found.texts.to_pylist() == [part for parts in expected for part in parts]
    assert found.counts().tolist() == [len(parts) for parts in expected]
    [counted] = _native.measures(array, (f"{unit}s",))
    assert counted.tolist() == found.counts().tolist()
    assert found.document.dtype == found.start.dtype == found.end.dtype == np.int64
    for document, start, end, part in zip(
        found.document, found.start, found.end, found.texts.to_pylist(), strict=True
    ):
        assert texts[skip:][document].encode()[start:end].decode() == part


PIECES = [b"a", b"A", b".", b"!", b" ", b"\n", b'"', "é。“\u3000\u0085🎉".encode()]
PIECES += [bytes([byte]) for byte in b"\x80\x82\x85\xa0\xbf\xc0\xc2\xc3\xe2\xe3\xed\xf0\xf4\xff"]


@example(b"a\xe3\x80 b\xe3\x80\n\x80\x80\n.\xc3. \xc3\x89. x", "sentence")
@given(st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join), st.sampled_from(UNITS))
def test_ill_formed_utf8_is_replaced(data: bytes, unit: SubUnit) -> None:
    text = pa.array([data], pa.large_binary()).view(pa.large_string())
    _, starts, ends = (column.tolist() for column in _native.segments(text, unit))
    found = [data[a:b].decode(errors="replace") for a, b in zip(starts, ends, strict=True)]
    assert found == reference(data.decode(errors="replace"), unit)


@pytest.mark.parametrize("pattern", ["b{}b", "b.{} b", "b.{}“b", "x\n{}\ny"])
def test_what_every_code_point_is(pattern: str) -> None:
    """Where it stands inside, behind a stop, before a quote and alone shows what it is."""
    texts = [pattern.format(chr(code)) for code in (*range(0xD800), *range(0xE000, 0x10000))]
    found = segments(pa.array(texts, pa.large_string()), "sentence")
    expected = [reference(text, "sentence") for text in texts]
    assert found.texts.to_pylist() == [part for parts in expected for part in parts]
    assert found.counts().tolist() == [len(parts) for parts in expected]
    # Nothing beyond the basic plane is anything but visible.
    beyond = pa.array([pattern.format(chr(code)) for code in range(0x10000, 0x110000)])
    assert set(np.diff(_native.segments(beyond, "sentence")[0])) == {
        len(reference(pattern.format("z"), "sentence"))
    }


def test_units_of_what_is_none() -> None:
    with pytest.raises(ValueError, match='got "word"'):
        _native.segments(pa.array(["a"]), "word")  # type: ignore[arg-type]
    offsets, starts, ends = _native.segments(pa.array(["a\nb", None, ""], pa.string()), "line")
    assert offsets.tolist() == [0, 2, 2, 2]
    assert (starts.tolist(), ends.tolist()) == ([0, 2], [1, 3])


@given(st.text(st.sampled_from(ALPHABET), max_size=60), st.sampled_from(UNITS))
def test_units_are_in_order_and_hold_all_that_is_visible(text: str, unit: SubUnit) -> None:
    found = segments(pa.array([text], pa.large_string()), unit)
    assert (found.start < found.end).all()
    assert (found.end[:-1] <= found.start[1:]).all()
    data = bytearray(text.encode())
    for start, end in reversed(list(zip(found.start.tolist(), found.end.tolist(), strict=True))):
        del data[start:end]
    assert not data.decode().strip()


@st.composite
def removals(draw: st.DrawFn) -> tuple[list[str], SubUnit, list[bool]]:
    texts = draw(TEXTS)
    unit = draw(st.sampled_from(UNITS))
    number = sum(len(reference(text, unit)) for text in texts)
    return texts, unit, draw(st.lists(st.booleans(), min_size=number, max_size=number))


@given(removals())
def test_what_removal_leaves(case: tuple[list[str], SubUnit, list[bool]]) -> None:
    texts, unit, removed = case
    units = segments(pa.array(texts, pa.large_string()), unit)
    gone = np.array(removed, dtype=np.bool_)
    starts, ends = removal_ranges(units, gone)
    assert len(starts) == gone.sum() and (starts < ends).all()
    documents = units.document[gone]
    for index, text in enumerate(texts):
        here = units.document == index
        ranges = list(zip(starts[documents == index], ends[documents == index], strict=True))
        assert all(first[1] <= second[0] for first, second in pairwise(ranges))
        left = bytearray(text.encode())
        for start, end in reversed(ranges):
            del left[start:end]
        parts = list(zip(units.start[here], units.end[here], gone[here], strict=True))
        assert left.decode() == reference_removal(text.encode(), parts)


def reference_removal(text: bytes, parts: list[tuple[int, int, bool]]) -> str:
    """Kept units with the text's own separators between them, the strongest of each run."""
    kept = [index for index, part in enumerate(parts) if not part[2]]
    if len(kept) == len(parts):
        return text.decode()
    if not kept:
        return ""
    gaps = [text[first[1] : second[0]] for first, second in pairwise(parts)]
    left = text[: parts[0][0]] if kept[0] == 0 else b""
    for here, after in pairwise([*kept, -1]):
        left += text[parts[here][0] : parts[here][1]]
        if after > 0:
            left += max(gaps[here:after], key=lambda gap: gap.count(b"\n"))
    return (left + (text[parts[-1][1] :] if kept[-1] == len(parts) - 1 else b"")).decode()


@pytest.mark.parametrize(
    "pattern",
    ["a", "a ", "\n", "a\n", ". ", "!)", "。", "“ ", "a\u0301", "J.", "\r", "!", "((", "好。\n\n"],
)
def test_time_grows_with_length_only(pattern: str) -> None:
    size = 1 << 22
    text = pa.array([pattern * (size // len(pattern.encode()))], pa.large_string())
    start = time.perf_counter()
    for unit in UNITS:
        units = segments(text, unit)
        removal_ranges(units, np.arange(len(units)) % 3 == 0)
    # What is quadratic takes hours; this takes a second.
    assert time.perf_counter() - start < 60
