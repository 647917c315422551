"""Texts that would make a careless kernel slow, of any size, and the kernels to try on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pyarrow as pa

from cleanpipe import _native
from cleanpipe.signatures import permutations

from .reference_tokens import token_hash

GRAM = 5
"""Tokens a gram, for `ngrams`, `minhash` and the index."""


# ---- texts ----


def repeated(unit: bytes, size: int) -> bytes:
    return unit * (size // len(unit))


def before(head: bytes, unit: bytes, size: int) -> bytes:
    return head + repeated(unit, size)


def line_of(unit: bytes, size: int) -> bytes:
    """One line that ends as those of scripts do."""
    return repeated(unit, size - 1) + b";"


def fibonacci(size: int) -> bytes:
    """Aperiodic, with the fewest different n-grams that there can be."""
    a, b = b"a ", b"a b "
    while len(b) < size:
        a, b = b, b + a
    return b[:size]


def numbered(separator: bytes, size: int) -> bytes:
    """All different, each of eight hexadecimal digits."""
    count = size // (8 + len(separator))
    return separator.join(np.arange(count, dtype=">u4").tobytes().hex(" ", 4).encode().split())


def twice(text: Callable[[int], bytes], separator: bytes, size: int) -> bytes:
    half = text(size // 2 - len(separator))
    return half + separator + half + separator


def letters(size: int) -> bytes:
    """Of the shortest tokens there are, in an order that repeats itself as little as it can."""
    text = np.full(size, ord(" "), np.uint8)
    drawn = np.random.default_rng(0).integers(0, 26, (size + 1) // 2)
    text[::2] = drawn + ord("a")
    return text.tobytes()


def alike(bits: int, size: int) -> bytes:
    """Tokens whose hashes have zeros in these bits, as many as there are, over and over."""
    text = b" ".join(b"%d" % name for name in colliding(bits, min(90_000_000, 12 * size))) + b" "
    return (text * (size // len(text) + 1))[:size]


LOW, HIGH = 0xFFF, 0xFFF << 52


@cache
def colliding(bits: int, searched: int) -> list[int]:
    """Numbers of eight digits whose hashes have zeros in these bits: one of 4,096 is."""
    found: list[int] = []
    for begin in range(10**7, 10**7 + searched, 1 << 20):
        names = np.arange(begin, min(begin + (1 << 20), 10**7 + searched))
        word = np.zeros(len(names), np.uint64)  # the digits as a little-endian number
        for place in range(8):
            digit = (names // 10 ** (7 - place) % 10 + ord("0")).astype(np.uint64)
            word |= digit << np.uint64(8 * place)
        hashes = word ^ np.uint64(0x9E3779B97F4A7C15)
        for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, 1):  # mix of docs/tokens.md
            hashes = (hashes ^ hashes >> np.uint64(33)) * np.uint64(factor)
        found += names[(hashes & np.uint64(bits)) == 0].tolist()
    assert all(token_hash(str(name)) & bits == 0 for name in found[:10])
    return found


PATTERNS = """a 我 \u0301 🎉 < > <a <> <!-- { {} ( () & &a &# @ a@ a@b. a@a.a a. . ,
www. www.. ,www.. http:// http://. :// : http: www.a, <é ! !) J. “ a\u0301 \ufffd … 。 \u200d \ufe0f
- • #"""
SCRIPT = [
    "function",
    "function (a,",
    "function a ",
    "window.",
    " document.a",
    "color: a ",
    "a{",
    "<!CDATA",
]
SPACES = [
    " ",
    "\n",
    "\r",
    "\u3000",
    " \n",
    "a ",
    "a\n",
    "a\n\n",
    "a\n b\n\n",
    "a b ",
    ". ",
    "好。\n\n",
]
ILL_FORMED = [
    b"\x80",
    b"\xff",
    b"\xe2\x80",
    b"\xf0\x9f\x98",
    b"\xed\xa0\x80",
    b"\xe2\x80\n",
    b"a\x80 ",
]

TEXTS: dict[str, Callable[[int], bytes]] = {
    **{repr(text): partial(repeated, text.encode()) for text in [*PATTERNS.split(), *SPACES]},
    **{repr(data): partial(repeated, data) for data in ILL_FORMED},
    **{f"{unit} in one line": partial(line_of, unit.encode()) for unit in SCRIPT},
    "an address without an end": partial(before, b"a@", b"b."),
    "a tag without an end": partial(before, b"<a ", b"b=c "),
    "a URL of stops": partial(before, b"www.", b".,"),
    "nearly periods of 13": partial(repeated, b"a " * 11 + b"b "),
    "the Fibonacci word": fibonacci,
    "tokens all different": partial(numbered, b" "),
    "lines all different": partial(numbered, b"\n"),
    "paragraphs all different": partial(numbered, b"\na\n\n"),
    "letters at random": letters,
    "the same tokens twice": partial(twice, partial(numbered, b" "), b" "),
    "the same lines twice": partial(twice, partial(numbered, b"\n"), b"\n"),
    "the same paragraphs twice": partial(twice, partial(numbered, b"\na\n\n"), b"\na\n\n"),
    "the same letters twice": partial(twice, letters, b" "),
    "hashes alike at the low end": partial(alike, LOW),
    "hashes alike at the high end": partial(alike, HIGH),
}
"""Each of at most about as many bytes as asked for, and hardly fewer."""


# ---- kernels ----


def array_of(*texts: bytes) -> pa.LargeStringArray:
    return pa.array(texts, pa.large_binary()).view(pa.large_string())


def kernels(text: bytes) -> dict[str, Callable[[], object]]:
    """All that is done to a text; the index has the n-grams of its first 64 KiB."""
    array = array_of(text)
    grams = np.unique(_native.ngrams(array_of(text[: 1 << 16]), GRAM)[1])
    index = _native.index_build(grams, None, GRAM).tobytes()
    return {
        "replaced": partial(_native.replaced, array),
        "tokens": partial(_native.tokens, array),
        "code tokens": partial(_native.tokens, array, code=True),
        "plain": partial(_native.plain_texts, array),
        "e-mail addresses": partial(_native.email_spans, array),
        "ngrams": partial(_native.ngrams, array, GRAM),
        "paragraphs": partial(_native.segments, array, "paragraph"),
        "lines": partial(_native.segments, array, "line"),
        "sentences": partial(_native.segments, array, "sentence"),
        "measures": partial(_native.measures, array, _native.MEASURES),
        "minhash": partial(_native.minhash, array, GRAM, *permutations(16, 1)),
        "index": partial(_native.index_query, (index, index), array),
    }
