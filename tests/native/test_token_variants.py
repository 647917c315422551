"""The token kernels of every instruction set: each against the scalar ones and the reference.

The scalar kernels run in a child process that CLEANPIPE_ISA=scalar has been set for; this one has
whatever the machine is best at, or what CLEANPIPE_ISA says.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cleanpipe import _native

from . import reference_tokens as reference
from .test_tokens import BYTES, CHARACTERS, FRAGMENTS

ROOT = Path(__file__).resolve().parent.parent.parent
BLOCK = 64
PIECE = 4096

Result = list[list[int]]
Scalar = Callable[[Sequence[bytes]], Result]


def scan(texts: Sequence[bytes]) -> Result:
    """Offsets, starts, ends and hashes, of code tokens too, and ill-formed sequences of all texts.

    (The offsets are of tokens as they were counted.)
    """
    array = pa.array(texts, pa.large_binary()).view(pa.large_string())
    kinds = [column for code in (False, True) for column in _native.tokens(array, code=code)]
    return [
        column.tolist() for column in (*kinds, _native.token_counts(array), _native.replaced(array))
    ]


def expected(texts: Sequence[bytes]) -> Result:
    columns: Result = []
    for tokens_of in (reference.tokens, reference.code_tokens):
        tokens = [tokens_of(text) for text in texts]
        flat = [token for some in tokens for token in some]
        columns += [
            [0, *np.cumsum([len(some) for some in tokens]).tolist()],
            [token.start for token in flat],
            [token.end for token in flat],
            [token.hash for token in flat],
        ]
    return [
        *columns,
        [len(reference.tokens(text)) for text in texts],
        [reference.characters(text)[1] for text in texts],
    ]


CHILD = """
import pickle, sys
from tests.native.test_token_variants import scan
while True:
    try:
        texts = pickle.load(sys.stdin.buffer)
    except EOFError:
        break
    pickle.dump(scan(texts), sys.stdout.buffer)
    sys.stdout.buffer.flush()
"""


@pytest.fixture(scope="module")
def scalar() -> Iterator[Scalar]:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "CLEANPIPE_ISA": "scalar", "PYTHONPATH": str(ROOT)},
    )
    to, back = child.stdin, child.stdout
    assert to is not None and back is not None

    def run(texts: Sequence[bytes]) -> Result:
        pickle.dump(list(texts), to)
        to.flush()
        result: Any = pickle.load(back)
        return result  # type: ignore[no-any-return]

    yield run
    to.close()
    assert child.wait() == 0
    back.close()


# Every way that a code point or a broken one can matter at the edge of a block.
ITEMS = [
    *(c.encode() for c in "a Zé×÷ÀßΣяЯѠѡѐЏع\u212a\u0301\u0345\u200c\u200d\ufe0f\u0800ƂȺ"),
    *(c.encode() for c in "“‿\u200f、〒〕々〆〡がーカ\u3099，！０Ａ：ｱﾞ"),
    *(c.encode() for c in "_@[`{~!©\xa0\xad£€\u0300\u0488ﾞ＿＝\ufffd"),
    *(c.encode() for c in "中一鿿㐀䶿䷀\u2028\ufeff한ກé"),
    *(c.encode() for c in "𠮷🙂\U000e0100𝐀𐐀\U0010ffff"),
    b"\x00", b"\x7f", b"\x80", b"\xbf", b"\xc0", b"\xc1\x81", b"\xc3", b"\xd0", b"\xe0\x9f\xbf",
    b"\xe2\x80", b"\xe3\x80", b"\xe4", b"\xe4\xb7", b"\xe5\x80", b"\xe5\x80\xc0", b"\xed\xa0\x80",
    b"\xef\xbc", b"\xf0\x9f\x98", b"\xf0\x80\x80\x80", b"\xf4\x90\x80\x80", b"\xf5", b"\xff",
    b"\xe5\x80\x80\x80", b"\xd0\x90\x90", b"\xe4\xb8\xad\xcc\x81", b"a\xcc\x81\xe2\x80\x8d",
]  # fmt: skip
FILLERS = [
    b"a",
    b" ",
    b"_",
    b"=",
    "é".encode(),
    "中".encode(),
    "я".encode(),
    "。".encode(),
    "Б".encode(),
]


def filled(filler: bytes, size: int) -> bytes:
    """`size` bytes: dots, then as many fillers as there is room for."""
    return b"." * (size % len(filler)) + filler * (size // len(filler))


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.hex())
def test_an_item_at_every_place_of_a_block(item: bytes, scalar: Scalar) -> None:
    texts = [
        filled(filler, size) + item + tail
        for filler in FILLERS
        for tail in (b"", b"b", b"b" * 70)
        for size in range(2 * BLOCK + 3)
    ]
    assert scan(texts) == scalar(texts)


def test_pairs_of_items_at_the_edge_of_a_block(scalar: Scalar) -> None:
    for size in (*range(BLOCK - 7, BLOCK + 1), PIECE - 2):
        texts = [filled(b"a", size) + one + two + b"b" for one in ITEMS for two in ITEMS]
        assert scan(texts) == scalar(texts)


def test_items_against_the_reference(scalar: Scalar) -> None:
    texts = [
        filled(filler, size) + item + tail
        for item in ITEMS
        for filler in (b" ", b"a", "中".encode())
        for tail in (b"", b"B")
        for size in (0, 5, 28, 31, 32, 60, 61, 62, 63, 64, 65)
    ]
    assert scan(texts) == scalar(texts) == expected(texts)


def test_tokens_of_every_size_at_every_place(scalar: Scalar) -> None:
    letters = b"abcDEFghi0JKLMnop" * 20
    for after in (b"", b" ", b"-x"):
        texts = [
            b" " * place + letters[:size] + after
            for place in (*range(10), *range(22, 34), *range(55, 67))
            for size in range(140)
        ]
        assert scan(texts) == scalar(texts)
    texts = [b"-" * place + letters[:size] for place in range(67) for size in range(0, 36, 5)]
    assert scan(texts) == expected(texts)


def test_tokens_of_all_sizes_beside_each_other(scalar: Scalar) -> None:
    letters = b"abcDEFghi0JKLMnopqRstuvwxyz0123456789"
    sizes = [*range(1, 36), *range(35, 0, -1), *(17, 9, 16, 8, 18, 24, 25) * 9]
    words = [letters[at % 3 :][:size] for at, size in enumerate(sizes)]
    texts = [b" ".join(words[first:]) for first in range(len(words))]
    assert scan(texts) == scalar(texts)
    assert scan(texts[:4]) == expected(texts[:4])


def test_a_text_that_ends_anywhere(scalar: Scalar) -> None:
    text = (
        "The Quick été ÉTÉ Привет, мир! 我爱北京。「か\u3099」 ที่ 🙂👩\u200d💻 "
        "می\u200cخواهم \u212a 𠮷 "
    ).encode()
    texts = [text[first:last] for first in range(70) for last in range(first, len(text) + 1)]
    assert scan(texts) == scalar(texts)
    assert scan(texts[:300]) == expected(texts[:300])
    whole = [(text * 3)[:last] for last in range(3 * len(text))]
    assert scan(whole) == scalar(whole)


@pytest.mark.parametrize("folding", ["", "É", "\u200d", "ẞ", "Я"])
def test_tokens_across_pieces(folding: str, scalar: Scalar) -> None:
    texts = [
        b"x " * (before // 2) + folding.encode() + b"Ab" * (size // 2) + end
        for before in (0, 10, PIECE - 64, PIECE - 4, PIECE - 2, PIECE, PIECE + 2)
        for size in (2, 60, 64, PIECE - 64, PIECE - 2, PIECE, 2 * PIECE, 3 * PIECE + 2)
        for end in (b"", b" ", folding.encode() + b" c", "\u0301中".encode())
    ]
    assert scan(texts) == scalar(texts)


@pytest.mark.parametrize(
    "unit",
    ["a ", "a中", "É ", "é", "\u0301", "a\u200d ", "𠮷", "\xff", "Z"] + ["=", "_[", "“", "©"],
)
def test_as_many_tokens_as_there_can_be(unit: str, scalar: Scalar) -> None:
    data = b"\xff" if unit == "\xff" else unit.encode()
    for size in (1, 63, 64, 65, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE):
        texts = [(data * size)[cut:size] for cut in (0, 1)]
        assert scan(texts) == scalar(texts)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(BYTES, st.binary(max_size=300)), max_size=4), st.integers(0, 200))
def test_any_bytes(scalar: Scalar, parts: list[bytes], repeat: int) -> None:
    text = b"".join(parts)
    texts = [text, text * (1 + repeat // 40), b"a" * repeat + text]
    assert scan(texts) == scalar(texts)


LONG = st.lists(
    st.one_of(st.text(CHARACTERS, max_size=12).map(str.encode), st.sampled_from(ITEMS), FRAGMENTS),
    min_size=10,
    max_size=60,
).map(b"".join)


@settings(max_examples=100, deadline=None)
@given(LONG)
def test_long_texts_equal_the_reference(scalar: Scalar, text: bytes) -> None:
    assert scan([text]) == scalar([text]) == expected([text])
