"""The n-gram index against a dictionary of tuples, its layout, and whatever bytes there are."""

from __future__ import annotations

import ctypes
import mmap
import re
import struct
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cleanpipe import _native

from . import reference_tokens as reference
from .test_tokens import SANITIZED, TEXTS, Exports, resident, strings

Hit = tuple[int, int, int, int]  # position, start, end, ordinal

SETTINGS = settings(max_examples=200, deadline=None)


def index(hashes: Sequence[int], n: int = 1, values: Sequence[int] | None = None) -> bytes:
    given_values = None if values is None else np.array(values, dtype=np.uint32)
    return _native.index_build(np.array(hashes, dtype=np.uint64), given_values, n).tobytes()


def ask(image: Any, texts: Any) -> Any:
    """What one index has of the texts."""
    [columns] = _native.index_query((image,), texts)
    return columns


def query(image: Any, texts: Any) -> list[list[Hit]]:
    offsets, *columns = (column.tolist() for column in ask(image, texts))
    found = list(zip(*columns, strict=True))
    return [found[a:b] for a, b in pairwise(offsets)]


def grams(text: str | bytes | None, n: int) -> list[tuple[tuple[str, ...], int, int]]:
    """(folded tokens, start, end) of each n-gram of a text, by the document."""
    tokens = reference.tokens(b"" if text is None else text)
    width = min(n, len(tokens))
    windows = [tokens[at : at + width] for at in range(len(tokens) - width + 1)] if width else []
    return [(tuple(t.folded for t in w), w[0].start, w[-1].end) for w in windows]


def gram_hash(tokens: tuple[str, ...]) -> int:
    total = 0
    for token in tokens:
        total = (total * 0x9E3779B97F4A7C15 + reference.token_hash(token)) % 2**64
    return reference.mix(total)


def build_from(texts: Sequence[str], n: int) -> tuple[bytes, dict[tuple[str, ...], int]]:
    """An index, and the ordinal of each gram that it should know."""
    known = {gram for text in texts for gram, _, _ in grams(text, n)}
    ordered = sorted(known, key=gram_hash)
    return index([gram_hash(gram) for gram in ordered], n), {g: i for i, g in enumerate(ordered)}


def expected(texts: Sequence[str | None], n: int, known: dict[tuple[str, ...], int]) -> Any:
    return [
        [
            (position, start, end, known[gram])
            for position, (gram, start, end) in enumerate(grams(text, n))
            if gram in known
        ]
        for text in texts
    ]


# ---- what is found, and where ----


@pytest.mark.parametrize(
    ("tests", "text", "n", "passages"),
    [
        (["The quick brown fox."], "See: THE  quick, brown fox!", 3, ["THE  quick, brown",
                                                                     "quick, brown fox"]),
        (["The quick brown fox."], "the quick red fox", 3, []),
        (["我爱北京天安门"], "他说：“我爱北京！”", 3, ["我爱北", "爱北京"]),
        (["東京でラーメンを食べる"], "東京で、ラーメ", 5, ["東京で、ラー", "京で、ラーメ"]),
        (["ที่นี่ดี"], "ที่ นี่", 2, ["ที่ นี่"]),
        (["a b"], "A-B", 5, ["A-B"]),  # shorter than n: one gram of all tokens
        (["a b"], "a b c", 5, []),
        (["a b c"], "a b", 5, []),
        (["a b a b a b"], "a b a b", 2, ["a b", "b a", "a b"]),
        ([""], "a", 1, []),
        (["a"], "", 1, []),
        (["a"], "…", 1, []),
    ],
)  # fmt: skip
def test_passages(tests: list[str], text: str, n: int, passages: list[str]) -> None:
    image, known = build_from(tests, n)
    [found] = query(image, strings([text]))
    assert [text.encode()[start:end].decode() for _, start, end, _ in found] == passages
    assert [found] == expected([text], n, known)


# Few words and characters, so that grams recur.
WORDY = st.lists(st.sampled_from(["a", "B", "b", "é", "中", "国", "の", ", ", "、"]), max_size=30)
SOME = st.one_of(WORDY.map(" ".join), WORDY.map("".join), TEXTS)


@SETTINGS
@given(
    st.lists(SOME, max_size=4), st.lists(st.none() | SOME, max_size=5), st.integers(1, 9), st.data()
)
@example(["a b"], [None, "", "a b"], 2, None)
def test_equals_the_reference(tests: list[str], texts: list[str | None], n: int, data: Any) -> None:
    image, known = build_from(tests, n)
    want = expected([*texts, *tests], n, known)
    array = strings([*texts, *tests], large=n % 2 == 0)
    assert query(image, array) == want
    cut = data.draw(st.integers(0, len(array))) if data else 1
    assert query(image, pa.chunked_array([array[:cut], array[cut:]])) == want
    assert query(image, Exports(array.__arrow_c_array__())) == want


@pytest.mark.parametrize("n", [*range(1, 51), 1000, 2**32 - 1])
def test_every_n(n: int) -> None:
    words = [f"w{i * i % 37}" for i in range(120)]
    tests = [" ".join(words[10:80]), " ".join(words[:n][:20])]
    texts = [" ".join(words), " ".join(words[:20]), " ".join(words[15:78])]
    image, known = build_from(tests, n)
    found = query(image, strings(texts))
    assert found == expected(texts, n, known)
    if n <= 50:
        assert len(found[0]) >= 70 - n + 1


def test_more_grams_than_a_block() -> None:
    """Every third token of a long text is known, in texts around the size of a block of 256."""
    known = [f"k{i}" for i in range(5000)]
    hashes = np.unique(_native.ngrams(strings(known), 1)[1])
    image = _native.index_build(hashes, None, 1)
    for size in (1, 2, 255, 256, 257, 511, 512, 513, 9_999):
        text = " ".join(known[i // 3 % 5000] if i % 3 == 0 else f"u{i}" for i in range(size))
        [found] = query(image, strings([text]))
        assert [position for position, _, _, _ in found] == list(range(0, size, 3))
        want = [text.encode()[start:end].decode() for _, start, end, _ in found]
        assert want == [known[i % 5000] for i in range((size + 2) // 3)]
        ordinals = np.array([ordinal for _, _, _, ordinal in found])
        assert (hashes[ordinals] == _native.ngrams(strings([text]), 1)[1][::3]).all()


# ---- the bytes ----


def test_golden_bytes() -> None:
    """Written down by hand from index.h: three grams, one bucket."""
    hashes = [0x0000000000000041, 0x7FFFFFFF00001002, 0xFFFFFFFFFFFFFFFF]
    filters = [(1 << 1 | 1 << 1 | 1 << 0) | (1 << 2 | 1 << 0 | 1 << 1) | 1 << 63]
    assert filters == [0x8000000000000007]
    want = struct.pack(
        "<8sII16sIIQ16s3Q1Q2I3I",
        *(b"cpngrams", 1, 2, b"15.0.0", 8, 1, 3, b"", *hashes, *filters, 0, 3, 10, 20, 30),
    )
    assert index(hashes, 8, [10, 20, 30]) == want
    assert _native.index_header(want) == (8, 3, 64, len(want) - 12, False)
    assert index([], 8).hex(" ", -8) == (
        "63706e6772616d73 0100000002000000 31352e302e300000 0000000000000000 "
        "0800000000000000 0000000000000000 0000000000000000 0000000000000000 "
        "0000000000000000 0000000000000000"
    )


def test_an_index_of_code_tokens() -> None:
    """One flag in the header; texts are then read for operators too."""
    head, other = "if a == b:", "if a != b:"
    hashes = np.unique(_native.ngrams(strings([head]), 4, code=True)[1])
    plain = _native.index_build(hashes, None, 4).tobytes()
    image = _native.index_build(hashes, None, 4, code=True).tobytes()
    assert image == plain[:36] + b"\x02" + plain[37:]
    assert _native.index_header(image) == (4, len(hashes), 64, -1, True)
    found = query(image, strings([f"x, {head}", other, None]))
    assert [[hit[:3] for hit in hits] for hits in found] == [
        [(2, 3, 10), (3, 6, 12), (4, 8, 13)],
        [],
        [],
    ]
    assert query(plain, strings([head])) == [[]]
    valued = _native.index_build(hashes, np.arange(len(hashes), dtype=np.uint32), 4, True)
    assert valued[36] == 3
    assert query(valued, strings([f"x, {head}"])) == found[:1]


@SETTINGS
@given(st.sets(st.integers(0, 2**64 - 1), max_size=60), st.integers(0, 63))
def test_the_layout_of_the_header_file(some: set[int], shift: int) -> None:
    hashes = sorted({value >> shift for value in some})
    buckets = len(hashes) // 4 + 1
    filters, starts = [0] * buckets, [0] * (buckets + 1)
    for value in hashes:
        bucket = (value >> 32) * buckets >> 32
        filters[bucket] |= 1 << value % 64 | 1 << (value >> 6) % 64 | 1 << (value >> 12) % 64
    for bucket in range(buckets + 1):
        starts[bucket] = sum((value >> 32) * buckets >> 32 < bucket for value in hashes)
    body = struct.pack(f"<{len(hashes)}Q{buckets}Q{buckets + 1}I", *hashes, *filters, *starts)
    assert index(hashes, 3)[64:] == body


def test_a_million_grams_take_at_most_sixteen_bytes_each() -> None:
    hashes = np.unique(np.random.default_rng(1).integers(0, 2**64, 1_000_000, dtype=np.uint64))
    values = np.arange(len(hashes), dtype=np.uint32)
    for given_values, limit in ((None, 11), (values, 15)):
        image = _native.index_build(hashes, given_values, 8)
        assert len(image) <= limit * len(hashes) + 100
        assert _native.index_header(image.data)[:2] == (8, len(hashes))
    buckets = len(hashes) // 4 + 1
    filters = image[64 + 8 * len(hashes) :][: 8 * buckets].view("<u8")
    asked = np.random.default_rng(2).integers(0, 2**64, 200_000, dtype=np.uint64)
    bits = np.zeros_like(asked)
    for shift in (0, 6, 12):
        bits |= np.uint64(1) << ((asked >> np.uint64(shift)) & np.uint64(63))
    bucket = (asked >> np.uint64(32)) * np.uint64(buckets) >> np.uint64(32)
    share = float(np.mean(filters[bucket] & bits == bits))
    assert 0.001 < share < 0.015  # what gets past the filter, all of it by chance


# ---- hashes that someone chose ----


@pytest.mark.parametrize("step", [1, 64, 4096])
def test_all_in_one_bucket(step: int) -> None:
    """Half of the grams of a text, and so many near one of them that its bucket has most."""
    words = [f"w{i}" for i in range(400)]
    own = _native.ngrams(strings(words), 1)[1]
    near = np.arange(50_000, dtype=np.uint64) * np.uint64(step)
    chosen = (own[7] & np.uint64(0xFFFFFFFF00000000)) + near
    hashes = np.unique(np.concatenate([own[::2], chosen]))
    image = _native.index_build(hashes, None, 1)
    want = {int(value): place for place, value in enumerate(hashes)}
    found = query(image, strings([" ".join(words)]))[0]
    assert [(p, o) for p, _, _, o in found] == [
        (place, want[int(value)]) for place, value in enumerate(own) if int(value) in want
    ]


def test_the_ends_of_the_range() -> None:
    for hashes in ([0], [2**64 - 1], [0, 1, 2**64 - 2, 2**64 - 1], list(range(2**64 - 9, 2**64))):
        image = index(hashes)
        assert _native.index_header(image)[1] == len(hashes)
        assert query(image, strings(["a b"])) == [[]]


# ---- bytes that are no index ----

TEXT = "the quick brown fox jumps over the lazy dog 我爱北京天安门"


def small() -> bytes:
    hashes = np.unique(_native.ngrams(strings([TEXT]), 3)[1])
    return _native.index_build(hashes, np.arange(len(hashes), dtype=np.uint32), 3).tobytes()


def test_every_truncation_is_refused() -> None:
    image = small()
    for size in range(len(image)):
        with pytest.raises(ValueError, match="not an n-gram index|of which there are"):
            ask(image[:size], strings([TEXT]))
    with pytest.raises(ValueError, match=f"of {len(image)} bytes, of which there are"):
        _native.index_header(image + b"\0")


@pytest.mark.parametrize(
    ("at", "bytes_", "message"),
    [
        (0, b"C", "not an n-gram index"),
        (8, b"\x02", "an n-gram index of format 2, not 1"),
        (12, b"\x09", "of token table 9 and Unicode 15.0.0, not 2 and 15.0.0"),
        (16, b"16", "of token table 2 and Unicode 16.0.0, not"),
        (16, b"\xff" * 16, "of token table 2 and Unicode .*, not"),
        (32, b"\0\0\0\0", "a damaged n-gram index"),
        (36, b"\x04", "a damaged n-gram index"),
        (36, b"\x03\0\0\x80", "a damaged n-gram index"),
        (36, b"\x02", "bytes, of which there are"),
        (36, b"\x00", "bytes, of which there are"),
        (40, b"\x01", "bytes, of which there are"),
        (40, b"\xff" * 4, "bytes, of which there are"),
        (40, b"\xff" * 8, "a damaged n-gram index"),
        (44, b"\x01", "a damaged n-gram index"),
    ],
)
def test_headers_that_lie(at: int, bytes_: bytes, message: str) -> None:
    image = small()
    image = image[:at] + bytes_ + image[at + len(bytes_) :]
    for call in (_native.index_header, lambda index: ask(index, strings([TEXT]))):
        with pytest.raises(ValueError, match=message):
            call(image)


def test_every_flipped_bit_is_survived() -> None:
    """An error, or ordinals that are below the count: never a crash."""
    image, texts = small(), strings([TEXT, TEXT[:20]])
    n, count, _, values_at, _ = _native.index_header(image)
    right = query(image, texts)
    for at in range(len(image)):
        for bit in range(8):
            broken = bytearray(image)
            broken[at] ^= 1 << bit
            try:
                found = query(broken, texts)
            except ValueError:
                continue
            assert all(hit[3] < count for hits in found for hit in hits)
            if 48 <= at < 64 or at >= values_at:
                assert found == right


def test_a_directory_that_does_not_ascend() -> None:
    image = bytearray(small())
    count = _native.index_header(image)[1]
    starts_at = 64 + 8 * count + 8 * (count // 4 + 1)
    for start in (0xFFFFFFFF, count + 1):
        struct.pack_into("<I", image, starts_at, start)
        struct.pack_into("<I", image, starts_at + 4, start)
        with pytest.raises(ValueError, match="a damaged n-gram index"):
            query(image, strings([TEXT]))


@SETTINGS
@given(st.binary(max_size=300), st.integers(0, 40), st.booleans())
def test_any_body_is_survived(body: bytes, count: int, valued: bool) -> None:
    """A header that is right, then any bytes of the right number."""
    header = index(range(count), 2, range(count) if valued else None)
    image = header[:64] + (body * 40)[: len(header) - 64].ljust(len(header) - 64, b"\xff")
    try:
        found = query(image, strings([TEXT]))
    except ValueError as error:
        assert str(error) == "a damaged n-gram index"
    else:
        assert all(hit[3] < count for hit in found[0])


# ---- arguments ----


def test_shapes_and_dtypes() -> None:
    columns = ask(small(), strings([TEXT, None]))
    assert [column.dtype for column in columns] == ["i8", "i8", "i8", "i8", "u4"]
    count = len(_native.ngrams(strings([TEXT]), 3)[1])
    assert [column.shape for column in columns] == [(3,), (count,), (count,), (count,), (count,)]
    assert [column.tolist() for column in ask(small(), pa.array([]))] == [
        [0], [], [], [], []
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("hashes", "values", "n", "error", "message"),
    [
        ([2, 1], None, 1, ValueError, "not in strictly ascending order"),
        ([1, 1], None, 1, ValueError, "not in strictly ascending order"),
        ([1, 2], [1], 1, ValueError, "1 values for 2 hashes"),
        ([1], None, 0, ValueError, "n is 1 to 4,294,967,295 tokens, got 0"),
        ([1], None, -1, ValueError, "got -1"),
        ([1], None, 2**32, ValueError, "got 4294967296"),
    ],
)
def test_what_cannot_be_built(
    hashes: list[int], values: list[int] | None, n: int, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        index(hashes, n, values)


@pytest.mark.parametrize(
    ("hashes", "values"),
    [
        (np.zeros(1, np.int64), None),
        (np.zeros(2, np.uint32), None),
        (np.zeros(1, ">u8"), None),
        (b"12345678", None),
        (np.zeros(1, np.uint64), np.zeros(1, np.uint64)),
        (np.zeros(1, np.uint64), np.zeros(1, np.float32)),
        ([1], None),
    ],
)
def test_arrays_of_other_types(hashes: Any, values: Any) -> None:
    with pytest.raises(TypeError):
        _native.index_build(hashes, values, 1)


def test_arrays_of_other_shapes() -> None:
    with pytest.raises(ValueError, match="expected 1 dimension of hashes, got 2"):
        _native.index_build(np.zeros((1, 1), np.uint64), None, 1)


def test_other_arguments() -> None:
    with pytest.raises(TypeError):
        ask("text", strings(["a"]))
    with pytest.raises(TypeError):
        _native.index_query([small()], strings(["a"]))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=re.escape("got list")):
        ask(small(), ["a"])
    with pytest.raises(ValueError, match="not an n-gram index"):
        ask(b"", strings(["a"]))


@SETTINGS
@given(st.lists(st.none() | TEXTS, max_size=4), st.lists(st.integers(1, 5), max_size=4))
def test_together_as_alone(texts: list[str | None], lengths: list[int]) -> None:
    asked = strings([*texts, "", *texts, "a b"])
    images = []
    for n in lengths:
        hashes = np.unique(_native.ngrams(asked, n)[1])
        images.append(index(hashes[::2].tolist(), n))
    together = _native.index_query(tuple(images), asked)
    assert len(together) == len(images)
    for image, columns in zip(images, together, strict=True):
        alone = ask(image, asked)
        assert [each.tolist() for each in columns] == [each.tolist() for each in alone]


def test_indexes_that_do_not_go_together() -> None:
    code = _native.index_build(np.zeros(0, np.uint64), None, 5, code=True).tobytes()
    with pytest.raises(ValueError, match="code tokens and of others cannot be asked together"):
        _native.index_query((small(), code), strings([TEXT]))
    with pytest.raises(ValueError, match="of which there are"):
        _native.index_query((small(), small()[:-1]), strings([TEXT]))
    assert _native.index_query((), strings([TEXT])) == ()


def test_any_buffer_will_do() -> None:
    image = small()
    want = query(image, strings([TEXT]))
    assert len(want[0]) > 10
    with mmap.mmap(-1, len(image)) as mapped:
        mapped.write(image)
        assert query(mapped, strings([TEXT])) == want
    for skew in range(1, 9):  # no alignment is asked for
        assert query(memoryview(bytes(skew) + image)[skew:], strings([TEXT])) == want
    assert query((ctypes.c_ubyte * len(image)).from_buffer_copy(image), strings([TEXT])) == want


@pytest.mark.skipif(SANITIZED or not Path("/proc/self/statm").exists(), reason="needs true RSS")
def test_nothing_leaks() -> None:
    image, texts = small(), strings([TEXT * 20, None, ""])
    broken = image[:-1]
    hashes = np.arange(1000, dtype=np.uint64)

    def calls(times: int) -> None:
        for _ in range(times):
            ask(image, texts)
            _native.index_build(hashes, None, 2)
            for bad in (lambda: ask(broken, texts),
                        lambda: _native.index_build(hashes[::-1].copy(), None, 2)):  # fmt: skip
                with pytest.raises(ValueError):
                    bad()

    calls(300)
    before = resident()
    calls(2000)
    assert resident() - before < 4 << 20
