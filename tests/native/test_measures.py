"""The surface measures: the reference against values by hand, the kernels against the reference."""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cleanpipe import _native
from cleanpipe.surface import SURFACE

from .measure_cases import CASES
from .reference_measures import REFERENCE
from .reference_tokens import SETS, UNICODE_VERSION

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENT = ROOT / "docs" / "measures.md"


def differences(
    texts: Sequence[str | bytes], names: Collection[str] = REFERENCE.keys()
) -> list[tuple[str, bytes, float, float]]:
    """(name, text, measured, expected) wherever a measure is not what the reference says.

    Args:
        texts: any bytes, or str without surrogates.
        names: of the measures to look at. Default: all.
    """
    data = [text.encode() if isinstance(text, str) else text for text in texts]
    array = pa.array(data, pa.large_binary()).view(pa.large_string())
    table = _native.measures(array, tuple(names)).T.tolist()
    found = []
    for text, row in zip(data, table, strict=True):
        well_formed = with_symbols(text)
        for name, measured in zip(names, row, strict=True):
            if measured != (expected := REFERENCE[name](well_formed)):
                found.append((name, text, measured, expected))
    return found


def with_symbols(data: bytes) -> str:
    """The text with a symbol for each ill-formed sequence.

    To every measure they are what U+FFFD is, but lines and paragraphs are compared byte by byte:
    so different ones for different sequences.
    """
    met: dict[bytes, str] = {}
    text = ""
    while True:
        try:
            return text + data.decode()
        except UnicodeDecodeError as error:
            sequence = data[error.start : error.end]
            symbol = met.setdefault(sequence, chr(FIRST_SYMBOL + len(met)))
            text += data[: error.start].decode() + symbol
            data = data[error.end :]


FIRST_SYMBOL = 0x2800
"""Of the 256 Braille patterns, of the general category of U+FFFD."""


def names_of_the_document() -> list[str]:
    """The first cell of each row; `a_2_b` ... `a_4_b` is a range."""
    names: list[str] = []
    for table in DOCUMENT.read_text(encoding="utf-8").split("| measure |")[1:]:
        for row in re.findall(r"^\| (`.*?`) \|", table.split("\n\n")[0], re.MULTILINE):
            for part in row.split(", "):
                first, *last = re.findall("`(.*?)`", part)
                if last:
                    low, high = (int(re.findall("[0-9]+", name)[0]) for name in (first, *last))
                    names += [first.replace(str(low), str(n)) for n in range(low, high + 1)]
                else:
                    names.append(first)
    return names


def test_the_document_names_them_all() -> None:
    assert tuple(REFERENCE) == tuple(SURFACE)
    assert names_of_the_document() == list(REFERENCE)


# ---- Unicode's properties ----


@pytest.mark.skipif(
    unicodedata.unidata_version > UNICODE_VERSION, reason="this Python's Unicode is newer"
)
def test_the_data_file_agrees_with_pythons_unicode() -> None:
    for code in range(0x110000):
        category = unicodedata.category(chr(code))
        if category != "Cn":
            for name in ("L", "Lu", "Mn", "Mc", "Nd", "P", "S", "Cf"):
                assert (code in SETS[name]) == category.startswith(name), hex(code)
        assert (code in SETS["whitespace"]) == chr(code).isspace(), hex(code)
        selector = "VARIATION SELECTOR" in unicodedata.name(chr(code), "")
        assert (code in SETS["variation_selector"]) == selector, hex(code)


# ---- values by hand ----


def test_each_has_its_cases() -> None:
    assert list(CASES) == list(REFERENCE)
    assert min(map(len, CASES.values())) >= 4


@pytest.mark.parametrize("name", REFERENCE)
def test_values_by_hand(name: str) -> None:
    wrong = [
        (text, REFERENCE[name](text), value)
        for text, value in [*CASES[name], ("", 0)]
        if REFERENCE[name](text) != value
    ]
    assert wrong == []


@pytest.mark.parametrize("name", [name for name in REFERENCE if name != "characters"])
def test_whitespace_alone_gives_nothing(name: str) -> None:
    assert REFERENCE[name](" \t\r\n\u00a0\u3000\n\x1c\u2028\x85\n") == 0


def test_kernels_give_the_values_by_hand() -> None:
    assert differences([text for cases in CASES.values() for text, _ in cases]) == []


# ---- any text, as the reference has it ----

WORDS = st.sampled_from(
    [*"abcABC", "a ", "b ", "c ", "the ", "The ", "of", "3", "e\u0301", "É ", "ß", "word ", "  "]
)
WIDER = st.sampled_from(
    [
        *"中国。，！？…「」一",
        "ไทย",
        "ก็",
        "हि",
        "한국어 ",
        "カ\u3099",
        "ｶﾞ",
        "１",
        "Ａ",
        "🎉",
        "❤\ufe0f",
    ]
)
SPACES = st.sampled_from(
    [
        *" \n\t\r\v\f\x1c\x1f\x85\u00a0\u1680\u2028\u2029\u3000\u200b\ufeff",
        "\n\n",
        "\r\n",
        "\r\n\r\n",
    ]
)
SIGNS = st.sampled_from(
    [*".!?,:;'\"#-*–•・●_%+$“”’»)", "...", "…", ". ", "! ", "J. ", "e.g. ", "Dr. ", "- ", "\n- "]
)
ODD = st.sampled_from(
    [*"\u0301\u200d\u200c\u00ad\u180b\ufe0f\u20e3\U000e0100\x00\ufffdǅⅧ½٣\ue000ſ\u212a", "a\u200d "]
)
MARKUP = st.sampled_from(
    [
        "<b>",
        "</b>",
        "<",
        ">",
        "<!--",
        "-->",
        "<!D",
        '<a href="',
        '">',
        "&",
        ";",
        "&amp;",
        "&#",
        "&#x",
    ]
    + ["1234567", "aF0", "{", "}", "a" * 31, "<1>", "</", "<a b>", "&lt;", "&#x1F;"]
)
LINKS = st.sampled_from(
    ["http://", "HTTPS://", "ftp://", "www.", "://", "@", "a@b.co", "b.co", ".co", ".c1", ".x", "/"]
    + ["http://a.b", "www.b.co", "x" * 63, "b" * 250, "~[]", "http", "..", "a.b@", ".-"]
)
SCRIPTED = """function ( ) (a,b) (a b) { } ; , [ ] = == => ) => { a $ . document. window. var let
const color: color text-align: -ms-x: red 1px # .a #b @media @font-face CDATA <![CDATA[ ]]> // /*
*/ --> <!-- }); }( }) $( jQuery( ga( -- 中 : "x" 'y' function( window.a("""
SCRIPT = st.sampled_from(
    [*SCRIPTED.split(), " ", " ", "\t", "function (a) {", "var a =", "{ color : a", "\n"]
)
PIECES = st.one_of(WORDS, WIDER, SPACES, SIGNS, ODD, MARKUP, LINKS)
LINES = st.one_of(
    st.lists(st.one_of(WORDS, SIGNS), max_size=8).map("".join),
    st.lists(PIECES, max_size=6).map("".join),
    st.integers(28, 31).map(lambda number: "x" * number),
)
PARTS = st.one_of(
    LINES,
    st.lists(WORDS, max_size=20).map("".join),
    st.text(st.sampled_from("ab "), max_size=40),
    st.builds(lambda part, gap, times: (part + gap) * times, LINES, SPACES, st.integers(2, 15)),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=10),
)
BREAKS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n", "\n \t\r\n", " \n  ", "\n\u3000\n"])
ENDS = st.sampled_from(["", "", ".", "!", "...", "…", "。", "”", ".)", ". B", "\u00a0", "\u200b"])
FEW_LINES = st.lists(
    st.builds(lambda line, end: line.strip("\n") + end, LINES, ENDS), min_size=1, max_size=4
)
LAID_OUT = FEW_LINES.flatmap(
    lambda lines: st.lists(
        st.builds(lambda line, gap: line + gap, st.sampled_from(lines), BREAKS), max_size=9
    ).map("".join)
)
SCANNED = st.lists(st.one_of(MARKUP, LINKS, LINKS, WORDS), min_size=2, max_size=30).map("".join)
SCRIPTS = st.lists(SCRIPT, min_size=2, max_size=12).map("".join)
TEXTS = st.one_of(st.lists(PARTS, max_size=6).map("".join), LAID_OUT, SCANNED, SCRIPTS)


@settings(max_examples=300, deadline=None)
@given(st.lists(TEXTS, max_size=4))
@example(["a b a b", "", "\r\n", "中" * 30, "x" * 70 + "@b.co"])
def test_kernels_equal_the_reference(texts: list[str]) -> None:
    assert differences(texts) == []


ILL_FORMED = st.sampled_from(
    [b"\x80", b"\xbf", b"\xc0", b"\xc3", b"\xed\xa0\x80", b"\xff"]
    + [b"\xc2", b"\xe2", b"\xe2\x80", b"\xe5\xa5", b"\xf0", b"\xf0\x9f\x98"]
)
DAMAGED = st.lists(st.one_of(LINES.map(str.encode), SPACES.map(str.encode), ILL_FORMED))


@settings(deadline=None)
@given(DAMAGED.map(b"".join) | st.binary(max_size=50))
def test_ill_formed_texts(data: bytes) -> None:
    assert len(with_symbols(data)) == len(data.decode(errors="replace"))
    assert differences([data]) == []


@given(TEXTS, st.lists(st.sampled_from(list(REFERENCE)), unique=True))
def test_only_what_is_wanted_and_the_same(text: str, names: list[str]) -> None:
    array = pa.array([text, None])
    every = dict(zip(_native.MEASURES, _native.measures(array, _native.MEASURES), strict=True))
    found = _native.measures(array, tuple(names))
    assert (found.dtype, found.shape) == (np.dtype("f8"), (len(names), 2))
    assert found.tolist() == [[every[name][0], 0.0] for name in names]


def test_the_salt_decides_nothing() -> None:
    """Each process draws its own."""
    code = """
import pyarrow as pa
from cleanpipe import _native
texts = ["\\n".join(str(i % 700) for i in range(n)) for n in range(0, 2000, 37)]
texts += [text.replace("7", "\\n\\n") for text in texts]
print(_native.measures(pa.array(texts), _native.MEASURES).tobytes().hex())
"""
    command = [sys.executable, "-c", code]
    first, second = (
        subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout for _ in range(2)
    )
    assert first == second != b""
