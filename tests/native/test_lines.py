"""The counts over lines and paragraphs, against docs/measures.md in slow Python."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cleanpipe import _native

FIELDS = (
    "lines",
    "bullets",
    "ellipses",
    "terminal",
    "short_lines",
    "characters",
    "duplicates",
    "duplicate_characters",
    "paragraphs",
    "paragraph_characters",
    "duplicate_paragraphs",
    "duplicate_paragraph_characters",
)
# What each bit of `wanted` asks for, beside the lines.
WANTED = {1: FIELDS[1:4], 2: FIELDS[4:6], 4: FIELDS[6:8], 8: FIELDS[8:10], 16: FIELDS[8:12]}

STOPS = ".!?。！？…｡‼⁇⁈⁉।॥؟۔։።၊။\u17d4\u17d5"
TERMINAL = STOPS + "\"'”’»›」』〞＂＇"
BULLETS = "•‣⁃◦∙▪▫■□●○▶◀・"


def counts(texts: list[bytes], wanted: int = 31) -> list[dict[str, int]]:
    array = pa.array(texts, pa.large_binary()).view(pa.large_string())
    rows = _native._lines(array, wanted).reshape(-1, len(FIELDS)).tolist()  # type: ignore[attr-defined]
    return [dict(zip(FIELDS, row, strict=True)) for row in rows]


def length(part: str) -> int:
    return len(part.encode(errors="surrogateescape").decode(errors="replace"))


def repeated(parts: list[str]) -> tuple[int, int]:
    again = [part for place, part in enumerate(parts) if part in parts[:place]]
    return len(again), sum(map(length, again))


def paragraphs_of(text: str) -> list[str]:
    found, block = [], ""
    for line in [*text.split("\n"), ""]:
        if line.strip():
            block += line + "\n"
        elif block:
            found.append(block.strip())
            block = ""
    return found


def reference(data: bytes) -> dict[str, int]:
    text = data.decode(errors="surrogateescape")  # each ill-formed byte stays itself
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    paragraphs = paragraphs_of(text)
    if len(paragraphs) < 2:
        paragraphs = lines
    bullets = [
        line[0] in BULLETS or (line[0] in "-*–" and (len(line) == 1 or line[1].isspace()))
        for line in lines
    ]
    numbers = (
        len(lines),
        sum(bullets),
        sum(line.endswith(("...", "…")) for line in lines),
        sum(line[-1] in TERMINAL for line in lines),
        sum(length(line) < 30 for line in lines),
        sum(map(length, lines)),
        *repeated(lines),
        len(paragraphs),
        sum(map(length, paragraphs)),
        *repeated(paragraphs),
    )
    return dict(zip(FIELDS, numbers, strict=True))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", {}),
        (" \n\t\r\n\u3000\n\x1c\u0085", {}),
        ("a", {"lines": 1, "short_lines": 1, "characters": 1}),
        ("\ufeff", {"lines": 1, "characters": 1}),  # a byte order mark is no whitespace
        ("\u200b\n\x00", {"lines": 2, "characters": 2}),
        ("x" * 29 + "\n" + "x" * 30, {"short_lines": 1, "characters": 59}),
        ("天" * 29 + "\n" + "天" * 30, {"short_lines": 1, "characters": 59}),
        ("\u3000" * 30 + "x" + " " * 30, {"short_lines": 1, "characters": 1}),
        ("• a\n  ‣\n- b\n-\n*\n–\u3000c\n- \r\n", {"lines": 7, "bullets": 7}),
        ("-5\n—\n--\n*a*\n–5\n1. a\n+ a", {"lines": 7, "bullets": 0}),
        ("-\u00a0a\n*\u2028a\n-\u200ba", {"bullets": 2}),
        ("a...\na…\n....\n...\n…", {"ellipses": 5, "terminal": 5}),
        ("..\n.. .\na…b\n……”", {"ellipses": 0, "terminal": 3}),
        ("a.\nb!\nc?\n好。\nd”\ne\n(f.)\nहै।\ng. \t", {"terminal": 7}),
        ("a\nb\na\n a \nA", {"duplicates": 2, "duplicate_characters": 2}),
        (
            "好的\n好的\n好的",
            {"duplicates": 2, "duplicate_characters": 4, "duplicate_paragraphs": 2},
        ),
        ("a\nb\n\na\nb\n\na\n b\n", {"paragraphs": 3, "duplicate_paragraphs": 1}),
        ("a\nb\n\na\nb\n", {"duplicates": 2, "duplicate_paragraph_characters": 3}),
        ("\n\na\nb\n \n\n", {"paragraphs": 2, "paragraph_characters": 2}),
        ("a\r\n\r\n  b \r\n  c\r\n", {"paragraphs": 2, "paragraph_characters": 1 + 7}),
        ("a\nb\n\nab\n\na\n\nb", {"paragraphs": 4, "duplicate_paragraphs": 0}),
        ("é\ne\u0301", {"duplicates": 0}),
    ],
)
def test_examples(text: str, shown: dict[str, int]) -> None:
    [found] = counts([text.encode()])
    assert found == reference(text.encode())
    assert {name: found[name] for name in shown} == shown


ALPHABET = "aab.!-*•–…”'。好é \t\n\n\n\r\u00a0\u2028\u3000\u200b🎉".encode()
PIECES = [character.encode() for character in ALPHABET.decode()]
PIECES += [b"...", b"x" * 27, b"\n\n", b"a\n", b"a\n\n", "好\n".encode()]
PIECES += [bytes([byte]) for byte in b"\x80\x85\xa6\xbf\xc0\xc2\xe2\xe3\xed\xf0\xff"]
TEXTS = st.lists(st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join), max_size=6)


@example([b"\xe2\x80\n\xe2\x80\xa6\n\x80\xa6\n\xe2\n\xe2\x80 \n\xc2\x85\n"])
@example([b"a\n\nb\n\na", b"a\n\nb\n\na"])
@given(TEXTS)
def test_it_equals_slow_python(texts: list[bytes]) -> None:
    assert counts(texts) == [reference(text) for text in texts]


@given(TEXTS, st.integers(0, 31))
def test_what_is_wanted_is_counted(texts: list[bytes], wanted: int) -> None:
    fields = {"lines", *(field for bit in WANTED if wanted & bit for field in WANTED[bit])}
    for found, text in zip(counts(texts, wanted), texts, strict=True):
        expected = reference(text)
        assert {name: found[name] for name in fields} == {name: expected[name] for name in fields}


@pytest.mark.parametrize("pattern", ["{} a", "-{}"])
def test_every_mark_at_both_ends(pattern: str) -> None:
    # All blocks that have marks of writing or whitespace; the rest is letters and unassigned.
    codes = [*range(0x3400), *range(0xF900, 0x10000), 0x1F389, 0xE0001]
    texts = [pattern.format(chr(code)).encode() for code in codes]
    assert counts(texts) == [reference(text) for text in texts]


def test_many_lines_grow_the_table() -> None:
    random = np.random.default_rng(0)
    for number in (1, 31, 32, 33, 1000, 50_000):
        drawn = random.integers(0, number, number).tolist()
        [found] = counts([b"\n".join(b"%d" % value for value in drawn)])
        assert found["lines"] - found["duplicates"] == len(set(drawn))
        [found] = counts([b"\n\n".join(b"%d\nx" % value for value in [*drawn, -1])])
        assert found["paragraphs"] - found["duplicate_paragraphs"] == len({*drawn, -1})


def test_the_salt_decides_nothing() -> None:
    code = """
import pyarrow as pa
from cleanpipe import _native
texts = ["\\n".join(str(i % 700) for i in range(n)) for n in range(0, 2000, 37)]
texts += [text.replace("7", "\\n\\n") for text in texts]
print(hash(_native._lines(pa.array(texts)).tobytes()))
"""
    run = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": "0"},
        ).stdout
        for _ in range(2)
    ]
    assert run[0] == run[1] != ""


@pytest.mark.parametrize(
    "pattern",
    [
        b"a",
        b"\n",
        b" ",
        b"a\n",
        b"a\n\n",
        b"a\n b\n\n",
        b"\xe3\x80\x80",
        b"\xe2\x80",
        b"\x80",
        b"\r",
    ],
)
def test_time_grows_with_length_only(pattern: bytes) -> None:
    text = pattern * ((1 << 23) // len(pattern))
    start = time.perf_counter()
    [found] = counts([text])
    # What is quadratic takes hours; this takes a fraction of a second.
    assert time.perf_counter() - start < 30
    assert found["lines"] in (0, 1, text.count(b"\n") - text.count(b"\n\n"))


def test_different_lines_take_linear_time() -> None:
    lines = [b"%07d" % number for number in range(1 << 20)]
    start = time.perf_counter()
    [found] = counts([b"\n".join(lines)])
    [blocks] = counts([b"\n\n".join(b"a\n" + b" " * (n % 50) + lines[n] for n in range(1 << 18))])
    assert time.perf_counter() - start < 30
    assert (found["lines"], found["duplicates"]) == (1 << 20, 0)
    assert (blocks["paragraphs"], blocks["duplicate_paragraphs"]) == (1 << 18, 0)


def test_a_long_text_does_not_slow_those_after_it() -> None:
    def took(texts: list[bytes]) -> float:
        array = pa.array(texts, pa.large_binary()).view(pa.large_string())
        best = 1e9
        for _ in range(5):
            start = time.perf_counter()
            _native._lines(array)  # type: ignore[attr-defined]
            best = min(best, time.perf_counter() - start)
        return best

    small = [b"a\nb\n\na\nb"] * 50_000
    large = [b"\n".join(b"%d" % number for number in range(300_000))]
    # Were the table cleared whole for each, it would be some thousand times.
    assert took(large + small) < 5 * (took(large) + took(small))
