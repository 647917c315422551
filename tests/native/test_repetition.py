"""Repeated n-grams, as docs/measures.md has them, against a slow reading of that page."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cleanpipe import _native

from . import reference_tokens

kernel: Any = vars(_native)["_repetition"]  # no part of the stub
SPANS = 1


class Top(NamedTuple):
    covered: int
    occurrences: int
    gram_characters: int


class Duplicate(NamedTuple):
    covered: int
    datatrove: int
    dolma: int
    dolma_all: int


class Repetition(NamedTuple):
    token_characters: int
    top: dict[int, Top]  # by n
    duplicate: dict[int, Duplicate]  # by n
    span_repeats: int


ALL_N = range(2, 11)
NO_TOP = Top(0, 0, 0)
NO_DUPLICATE = Duplicate(0, 0, 0, 0)


def measured(texts: Sequence[str | bytes | None], wanted: int | None = None) -> list[Repetition]:
    data = [text.encode() if isinstance(text, str) else text for text in texts]
    array = pa.array(data, pa.large_binary()).view(pa.large_string())
    rows = kernel(array, *(() if wanted is None else (wanted,)))
    return [
        Repetition(
            row[0],
            {n: Top(*row[1 + 3 * (n - 2) :][:3]) for n in range(2, 5)},
            {n: Duplicate(*row[10 + 4 * (n - 5) :][:4]) for n in range(5, 11)},
            row[34],
        )
        for row in rows.reshape(-1, 35).tolist()
    ]


# ---- the page, slow and obvious ----


def characters_of(tokens: Sequence[reference_tokens.Token], text: bytes) -> list[int]:
    return [len(text[token.start : token.end].decode()) for token in tokens]


def reference(text: str | bytes | None) -> Repetition:
    data = text.encode() if isinstance(text, str) else text or b""
    tokens = reference_tokens.tokens(data)
    hashes = [token.hash for token in tokens]
    characters = characters_of(tokens, data)
    return Repetition(
        sum(characters),
        {n: reference_top(hashes, characters, n) for n in range(2, 5)},
        {n: reference_duplicate(hashes, characters, n) for n in range(5, 11)},
        reference_span_repeats(hashes),
    )


def grams_of(hashes: list[int], n: int) -> list[tuple[int, ...]]:
    return [tuple(hashes[i : i + n]) for i in range(len(hashes) - n + 1)]


def covered_by(places: Sequence[int], characters: list[int], n: int) -> int:
    return sum(characters[i] for i in {place + k for place in places for k in range(n)})


def reference_top(hashes: list[int], characters: list[int], n: int) -> Top:
    grams = grams_of(hashes, n)
    if not grams:
        return NO_TOP
    counts = Counter(grams)
    most = max(counts.values())
    first = next(i for i, gram in enumerate(grams) if counts[gram] == most)
    places = [i for i, gram in enumerate(grams) if gram == grams[first]]
    return Top(covered_by(places, characters, n), most, sum(characters[first : first + n]))


def reference_duplicate(hashes: list[int], characters: list[int], n: int) -> Duplicate:
    grams = grams_of(hashes, n)
    counts = Counter(grams)
    sums = [sum(characters[i : i + n]) for i in range(len(grams))]
    places = [i for i, gram in enumerate(grams) if counts[gram] > 1]
    met: set[tuple[int, ...]] = set()
    i = datatrove = 0
    while i < len(grams):
        if grams[i] in met:
            datatrove += sums[i]
            i += n
        else:
            met.add(grams[i])
            i += 1
    dolma = sum(sums[i] for i in places)
    return Duplicate(covered_by(places, characters, n), datatrove, dolma, sum(sums))


def reference_span_repeats(hashes: list[int]) -> int:
    most = 0
    for i in range(len(hashes)):
        for p in range(1, 14):
            span, times = hashes[i : i + p], 1
            while len(span) == p and hashes[i + times * p : i + (times + 1) * p] == span:
                times += 1
            most = max(most, times)
    return most


# ---- by hand ----

# text, characters of tokens, {n: counts}: n from 2 to 4 (covered, occurrences, gram's characters),
# n from 5 to 10 (covered, datatrove, dolma, dolma of all), span repeats
CASES: list[tuple[str, int, dict[int, tuple[int, ...]], int]] = [
    ("", 0, {}, 0),
    (" —…!? ", 0, {}, 0),
    ("one", 3, {}, 1),
    ("one two", 6, {2: (6, 1, 6)}, 1),
    ("one one", 6, {2: (6, 1, 6)}, 2),
    # Nothing is repeated: the first n-gram.
    ("a bb ccc dddd", 10, {2: (3, 1, 3), 3: (6, 1, 6), 4: (10, 1, 10)}, 1),
    # Overlapping occurrences count, but no character twice.
    ("a a a a", 4, {2: (4, 3, 2), 3: (4, 2, 3), 4: (4, 1, 4)}, 4),
    # Of equally frequent ones that which occurs first, not that which is repeated first.
    ("x yy z z yy x yy", 10, {2: (6, 2, 3), 3: (4, 1, 4), 4: (5, 1, 5)}, 2),
    ("x yy q z w z w x yy", 11, {2: (6, 2, 3)}, 2),
    # Case does not matter, characters do: the first occurrence's own.
    ("Ab\u200dc d. ABC D!", 9, {2: (9, 2, 5), 3: (8, 1, 8), 4: (9, 1, 9)}, 2),
    ("我爱我爱我", 5, {2: (4, 2, 2), 3: (5, 2, 3), 4: (4, 1, 4), 5: (0, 0, 0, 5)}, 2),
    # Five tokens twice, apart.
    (
        "a b c d e - x - a b c d e",
        11,
        {2: (4, 2, 2), 3: (6, 2, 3), 4: (8, 2, 4), 5: (10, 5, 10, 35), 6: (0, 0, 0, 36)},
        1,
    ),
    # datatrove's reading, n = 5: 0 is met; 1 and 6 are known and count; 11 has no 5-gram.
    ("a " * 12, 12, {5: (12, 10, 40, 40), 6: (12, 6, 42, 42), 10: (12, 10, 30, 30)}, 12),
    # n = 6: after the known abcdef at 6 reading goes on at 12, so bcdefg at 7 is never met, and
    # the one at 14 is the first.
    (
        "a b c d e f a b c d e f g h b c d e f g",
        20,
        {5: (19, 10, 35, 80), 6: (19, 6, 24, 90), 7: (0, 0, 0, 98)},
        2,
    ),
    # A span of 13 tokens is one, of 14 is none.
    ("a b c d e f g h i j k l m " * 3, 39, {10: (39, 20, 300, 300)}, 3),
    ("a b c d e f g h i j k l m n " * 3, 42, {}, 1),
    # The run need not begin at a multiple of anything, nor end with a whole span.
    ("q w e r t a b a b a b a x", 13, {2: (6, 3, 2)}, 3),
]


@pytest.mark.parametrize(("text", "characters", "counts", "spans"), CASES)
def test_by_hand(
    text: str, characters: int, counts: dict[int, tuple[int, ...]], spans: int
) -> None:
    for found in (*measured([text]), reference(text)):
        assert found.token_characters == characters
        assert {n: tuple({**found.top, **found.duplicate}[n]) for n in counts} == counts
        assert found.span_repeats == spans


def test_fewer_tokens_than_n() -> None:
    for count in range(12):
        [found] = measured(["a " * count])
        assert [n for n, top in found.top.items() if top != NO_TOP] == [
            n for n in range(2, 5) if n <= count
        ]
        assert [n for n, duplicate in found.duplicate.items() if duplicate != NO_DUPLICATE] == [
            n for n in range(5, 11) if n <= count
        ]


# ---- any text ----

WORDS = st.sampled_from(["a", "b", "B", "cc", "Ccc", "\u00e9", "中", "文", "incomprehensibilities"])
FEW = st.lists(st.sampled_from("ab"), max_size=60)
RANDOM = st.lists(WORDS, max_size=60)


@st.composite
def periodic(draw: st.DrawFn) -> list[str]:
    """Pieces that come back, whole or cut off, at once or later."""
    pieces = draw(st.lists(st.lists(WORDS, min_size=1, max_size=15), min_size=1, max_size=3))
    words: list[str] = []
    for _ in range(draw(st.integers(1, 5))):
        piece = draw(st.sampled_from(pieces)) * draw(st.integers(1, 4))
        words += piece[draw(st.integers(0, 2)) : len(piece) - draw(st.integers(0, 2))]
    return words


TEXTS = st.one_of(FEW, RANDOM, periodic()).map(" ".join) | st.text(
    "ab 中é\u0301\u200d", max_size=50
)


@settings(max_examples=600, deadline=None)
@given(st.lists(st.none() | TEXTS | st.binary(max_size=30), max_size=4))
def test_equals_the_reference(texts: list[str | bytes | None]) -> None:
    assert measured(texts) == [reference(text) for text in texts]


@settings(max_examples=200, deadline=None)
@given(periodic().map(" ".join), st.sets(st.integers(2, 10)), st.booleans())
def test_only_what_is_wanted(text: str, lengths: set[int], spans: bool) -> None:
    wanted = sum(1 << n for n in lengths) + SPANS * spans
    [found], [everything] = measured([text], wanted), measured([text])
    assert found == Repetition(
        everything.token_characters if lengths else 0,
        {n: top if n in lengths else NO_TOP for n, top in everything.top.items()},
        {n: d if n in lengths else NO_DUPLICATE for n, d in everything.duplicate.items()},
        everything.span_repeats if spans else 0,
    )


def long_texts() -> list[str]:
    random = np.random.default_rng(3)
    words = [f"w{number:x}" for number in range(3_000)]
    zipf = [words[i % 3_000] for i in random.zipf(1.3, 4_000)]
    return [
        " ".join(f"t{number}" for number in range(12_000)),
        " ".join(zipf),
        " ".join(zipf[:500] * 3),
        "".join(chr(0x4E00 + i) for i in random.integers(0, 300, 5_000)),
        "".join(chr(0x4E00 + i) for i in random.integers(0, 2, 3_000)),
    ]


def test_long_texts() -> None:
    """Tables that grow, and are used again by shorter texts."""
    texts = [*long_texts(), "a a", "b c b c", *long_texts()[::-1], "d"]
    assert measured(texts) == [reference(text) for text in texts]


def test_characters_of_every_length_of_token() -> None:
    """Also at the end of a text, behind which nothing may be read."""
    for letter in ("a", "é", "अ", "𐐨"):
        texts = [
            letter * size + tail for size in range(1, 40) for tail in ("", " x", " " + "y" * 9)
        ]
        sizes = [len(text.replace(" ", "")) for text in texts]
        assert [found.token_characters for found in measured(texts)] == sizes


# ---- hostile texts: the time is linear ----


def fibonacci(length: int) -> str:
    a, b = "a ", "a b "
    while len(b) < length:
        a, b = b, b + a
    return b[:length]


# Of 12 * 2^k tokens.
HOSTILE: dict[str, Callable[[int], str]] = {
    "one token": lambda count: "a " * count,
    "two tokens in turn": lambda count: "a b " * (count // 2),
    "all different": lambda count: " ".join(f"{number:x}" for number in range(count)),
    "the same two times": lambda count: " ".join(f"{number:x}" for number in range(count // 2)) * 2,
    "the Fibonacci word": lambda count: fibonacci(2 * count),
    "nearly periods of 13": lambda count: ("a " * 11 + "b ") * (count // 12),
}


def seconds(texts: Sequence[str]) -> float:
    array = pa.array(texts, pa.large_string())
    best = float("inf")
    for _ in range(3):
        begun = time.perf_counter()
        kernel(array)
        best = min(best, time.perf_counter() - begun)
    return best


@pytest.mark.parametrize("name", HOSTILE)
def test_time_is_linear(name: str) -> None:
    """64 times as long: 4,096 times the time if it were quadratic, some more than 64 for what
    does not fit into the cache."""
    short, long = (HOSTILE[name](12 << bits) for bits in (8, 14))
    assert seconds([long]) < 1_000 * seconds([short])


def mix(x: Any) -> Any:
    """cp_hash_mix of a uint64 array."""
    shift = np.uint64(33)
    x = (x ^ x >> shift) * np.uint64(0xFF51AFD7ED558CCD)
    x = (x ^ x >> shift) * np.uint64(0xC4CEB9FE1A85EC53)
    return x ^ x >> shift


@pytest.mark.parametrize("bits", [0xFFF, 0xFFF << 52], ids=["low", "high"])
def test_tokens_whose_hashes_collide(bits: int) -> None:
    """They would share one place in a table indexed by these bits, and take 300 times as long."""
    names = np.arange(10**7, 16 * 10**6)
    words = np.zeros(len(names), np.uint64)  # eight digits each, as a little-endian number
    for place in range(8):
        digits = (names // 10 ** (7 - place) % 10 + ord("0")).astype(np.uint64)
        words |= digits << np.uint64(8 * place)
    hashes = mix(words ^ np.uint64(0x9E3779B97F4A7C15))
    chosen = names[(hashes & np.uint64(bits)) == 0].tolist()
    assert len(chosen) > 1_000
    for name in chosen[:10]:
        assert reference_tokens.token_hash(str(name)) & bits == 0
    hostile, plain = (
        " ".join(str(name) for name in some) for some in (chosen, names[: len(chosen)].tolist())
    )
    assert seconds([hostile + " " + hostile]) < 10 * seconds([plain + " " + plain])


def test_a_long_text_costs_later_ones_nothing() -> None:
    """If each cleared what the long one used it would take a hundred times as long."""
    long, short = HOSTILE["all different"](12 << 14), ["a b a"] * 20_000
    assert seconds([long, *short]) < 5 * (seconds([long]) + seconds(short))
