"""Sets of n-grams, their digests and similarities against slow references and fixed values."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleanpipe import _native
from cleanpipe.signatures import permutations

from ..times import ratio, within
from . import reference_tokens as reference
from .test_minhash import Exported, ran_beside, run_with
from .test_ngrams import expected

NOTHING = 2**32 - 1
KEYS = (0x9E3779B97F4A7C15, 0x243F6A8885A308D3)


def strings(texts: Sequence[str | None]) -> Any:
    return pa.array(texts, pa.large_string())


def digest(grams: set[int], n: int) -> list[int]:
    """As sets.h defines it."""
    mix = reference.mix
    sums = [sum(mix(gram ^ key) for gram in grams) for key in KEYS]
    starts = [mix(mix(key ^ n) ^ len(grams)) for key in KEYS]
    return [mix((start + total) % 2**64) for start, total in zip(starts, sums, strict=True)]


def sets_of(texts: Sequence[str | None], n: int | Any) -> list[list[int]]:
    offsets, hashes = _native.ngram_sets(strings(texts), n)
    assert (offsets.dtype, hashes.dtype) == (np.dtype("i8"), np.dtype("u8"))
    assert (offsets[0], offsets[-1]) == (0, len(hashes))
    return [hashes[a:b].tolist() for a, b in pairwise(offsets.tolist())]


def digest_of(text: str | None, n: int) -> list[int]:
    found: list[list[int]] = _native.sketches(strings([text]), n, *permutations(1, 1))[1].tolist()
    return found[0]


def flat(sets: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    """The two arrays of sets."""
    offsets = np.cumsum([0, *map(len, sets)]).astype("i8")
    return offsets, np.array([hash_ for one in sets for hash_ in one], "u8")


WORDS = st.sampled_from(["a", "b", "ab", "我", "ไ", "é", "-", "internationalization", "A"])
TEXT = st.none() | st.lists(WORDS, max_size=30).map(" ".join)
ASKED = st.lists(st.tuples(TEXT, st.integers(1, 9) | st.just(2**62)), max_size=6)


# ---- sketches and sets of texts ----


@given(ASKED, st.integers(1, 40))
def test_they_equal_the_reference(asked: list[tuple[str | None, int]], num_perm: int) -> None:
    """With one n a text, and with one for all."""
    a, b = permutations(num_perm, 7)
    for n in (None, 3):
        texts = [text or "" for text, _ in asked]
        each = [n or own for _, own in asked]
        given_n: Any = n or np.array(each, "i8")
        column = strings([text for text, _ in asked])
        want = [set(expected(text, own)) for text, own in zip(texts, each, strict=True)]
        sizes = [len(reference.tokens(text)) for text in texts]

        assert sets_of([text for text, _ in asked], given_n) == [sorted(grams) for grams in want]
        signatures, digests, tokens = _native.sketches(column, given_n, a, b)
        assert [array.dtype.str for array in (signatures, digests, tokens)] == ["<u4", "<u8", "<i8"]
        assert digests.shape == (len(asked), 2)
        assert tokens.tolist() == sizes
        assert digests.tolist() == [digest(*one) for one in zip(want, each, strict=True)]
        plain = _native.minhash(column, given_n, a, b)
        assert plain.shape == signatures.shape == (len(asked), num_perm)
        for i, (size, own) in enumerate(zip(sizes, each, strict=True)):
            alone = _native.minhash(column.slice(i, 1), own, a, b)[0]
            assert plain[i].tolist() == alone.tolist()
            assert signatures[i].tolist() == (
                [NOTHING] * num_perm if size < 2 * own else alone.tolist()
            )


# Written down, so that no change of a token, a gram and the digest together passes.
GOLDEN = {
    ("The quick brown fox jumps over the lazy dog.", 5): (0x67C61363A06AB4D1, 0x4CAE6735E14D8120),
    ("The quick brown fox jumps over the lazy dog.", 3): (0x3B2D9816CD61BC28, 0xC3DE12EE7423B1FD),
    ("今天的天气很好，我们去公园玩吧。", 5): (0x4DA0C7C1F609FBFF, 0x4C25372AAE4F9B58),
    ("word", 5): (0xC625917D6A1CF673, 0xE1CCD67ACF7D7037),
    ("word", 1): (0x5304917FFBB8696E, 0x94F99CDB046762D5),
    ("", 5): (0x4AAE1FBA9CDFD71B, 0x25E4943B6EF405F4),
}


@pytest.mark.parametrize(("text", "n"), GOLDEN)
def test_golden_digests(text: str, n: int) -> None:
    assert digest_of(text, n) == list(GOLDEN[text, n])


def test_the_digest_is_of_the_set_and_n() -> None:
    """Cyclic texts: the same n-grams, from another place and again."""
    once, again, turned = "a b c a b", "a b c a b c a b", "b c a b c"
    assert digest_of(once, 3) == digest_of(again, 3) == digest_of(turned, 3)
    assert digest_of("A, b; C -- a b!", 3) == digest_of(once, 3)
    others = [digest_of(text, 3) for text in ("a b c a", "a b c", "a b c a c", "", "a")]
    different = {tuple(each) for each in [*others, digest_of(once, 3)]}
    assert len(different) == len({half for each in different for half in each}) / 2 == 6
    # Of fewer tokens than n, and so the same n-gram: not the same by another n.
    assert sets_of(["a b"], 5) == sets_of(["a b"], 6)
    assert digest_of("a b", 5) != digest_of("a b", 6)
    assert digest_of(None, 5) == digest_of("...", 5) == digest_of("", 5)


SIZES = [1, 2, 23, 24, 25, 26, 63, 64, 511, 512, 513, 4095, 4096, 4097, 30_000, 200_000]


@pytest.mark.parametrize("kinds", [1, 2, 40, 10**6])
def test_sets_of_every_size(kinds: int) -> None:
    """Around the sizes at which sorting goes by insertion, one digit, or several."""
    draw = np.random.RandomState(5)
    texts = strings([" ".join(map(str, draw.randint(0, kinds, size))) for size in SIZES])
    offsets, hashes = _native.ngram_sets(texts, 1)
    of_all, grams = _native.ngrams(texts, 1)
    for i in range(len(SIZES)):
        want = np.unique(grams[of_all[i] : of_all[i + 1]])
        assert np.array_equal(hashes[offsets[i] : offsets[i + 1]], want)


# ---- pairs ----

HASHES = st.integers(0, 2**64 - 1) | st.integers(0, 40) | st.integers(2**63 - 20, 2**63 + 20)
SETS = st.lists(st.sets(HASHES, max_size=60).map(sorted), min_size=1, max_size=6)


def similarity(a: Sequence[int], b: Sequence[int]) -> float:
    union = len({*a, *b})
    return float(Fraction(len({*a} & {*b}), union)) if union else 0.0


def all_pairs(count: int) -> tuple[Any, Any]:
    left, right = np.divmod(np.arange(count * count), count)
    return left.astype("i8"), right.astype("i8")


@given(SETS, st.integers(0, 5))
def test_jaccard(sets: list[list[int]], before: int) -> None:
    """Also where the arrays hold more than the sets."""
    offsets, hashes = flat(sets)
    left, right = all_pairs(len(sets))
    hashes = np.concatenate([np.zeros(before, "u8"), hashes, np.zeros(2, "u8")])
    found = _native.jaccard(offsets + before, hashes, left, right)
    assert (found.dtype, found.shape) == (np.dtype("f8"), left.shape)
    assert found.tolist() == [similarity(a, b) for a in sets for b in sets]


def overlapping(sizes: Sequence[int], seed: int = 3) -> list[list[int]]:
    """Random subsets, which share much, of a pool; the first and the last hash are in each."""
    draw = np.random.RandomState(seed)
    pool = np.unique(draw.randint(0, 2**63, max(sizes) * 4 // 3 + 8)).astype("u8") * np.uint64(2)
    ends = {int(pool[0]), int(pool[-1])}
    return [sorted({*draw.choice(pool, size, replace=False).tolist(), *ends}) for size in sizes]


def similarities() -> list[float]:
    """Of sets so different in size that one is searched, and of much the same."""
    sets = overlapping([1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 64, 100, 900, 1100, 3000])
    found: list[float] = _native.jaccard(*flat(sets), *all_pairs(len(sets))).tolist()
    return found


def test_jaccard_of_sets_of_every_size() -> None:
    sets = overlapping([1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 64, 100, 900, 1100, 3000])
    assert similarities() == [similarity(a, b) for a in sets for b in sets]


@pytest.mark.parametrize("isa", _native.ISAS)
def test_every_isa_gives_the_same(isa: str) -> None:
    program = "from tests.native.test_sets import _native, similarities; "
    done = run_with(isa, program + "print(_native.ISA, sum(similarities()))")
    assert done.stdout.split() == [isa, str(sum(similarities()))], done.stderr


def test_empty_sets_match_nothing() -> None:
    offsets, hashes = _native.ngram_sets(strings(["", None, "a b", "a b"]), 2)
    left, right = np.array([0, 0, 0, 2, 2]), np.array([0, 1, 2, 2, 3])
    assert _native.jaccard(offsets, hashes, left, right).tolist() == [0, 0, 0, 1, 1]


@given(st.lists(st.lists(st.sampled_from([0, 1, NOTHING]), min_size=7, max_size=7), min_size=1))
def test_agreement(rows: list[list[int]]) -> None:
    left, right = all_pairs(len(rows))
    found = _native.agreement(np.array(rows, "u4"), left, right)
    assert (found.dtype, found.shape) == (np.dtype("f8"), left.shape)
    assert found.tolist() == [
        0.0 if a == b == [NOTHING] * 7 else sum(map(int.__eq__, a, b)) / 7
        for a in rows
        for b in rows
    ]


def test_agreement_estimates_jaccard() -> None:
    """For 400 pairs the mean error of 256 values is far below that of one, 0.5 / 16."""
    draw = np.random.RandomState(11)
    texts = []
    for _ in range(400):
        words = draw.randint(0, 10**6, 120)
        other = words.copy()
        begin = draw.randint(0, 100)
        other[begin : begin + 15] += 1
        texts += [" ".join(map(str, words)), " ".join(map(str, other))]
    left, right = np.arange(0, 800, 2), np.arange(1, 800, 2)
    exact = _native.jaccard(*_native.ngram_sets(strings(texts), 3), left, right)
    signatures = _native.sketches(strings(texts), 3, *permutations(256, 1))[0]
    error = _native.agreement(signatures, left, right) - exact
    assert abs(error.mean()) < 0.006
    assert exact.min() > 0.4 and abs(error).max() < 0.16


# ---- time, threads, memory ----

HOSTILE: dict[str, Callable[[int], str]] = {
    "one token": lambda size: "a " * size,
    "one cluster": lambda size: "我" * size,
    "two tokens": lambda size: "a b " * (size // 2),
    "a long period": lambda size: " ".join(map(str, range(1000))) * (size // 1000),
    "all different": lambda size: " ".join(map(str, range(size))),
    "hashes that descend": lambda size: descending(size),
}


def descending(size: int) -> str:
    """Numbers of which each has a lower hash than that before it."""
    words = [str(i) for i in range(size)]
    hashes = _native.ngrams(strings(words), 1)[1]
    return " ".join(words[i] for i in np.argsort(hashes)[::-1].tolist())


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_text_is_slow_to_sort(kind: str) -> None:
    """Sorting and the digest beside what tokens, n-grams and one permutation take."""
    texts = strings([HOSTILE[kind](500_000)])
    a, b = permutations(1, 1)
    sketched, signed = (
        partial(kernel, texts, 1, a, b) for kernel in (_native.sketches, _native.minhash)
    )
    assert ratio(sketched, signed, 8) < 8


def test_a_small_set_is_searched_for() -> None:
    """A pair's time goes with the smaller set: 2,000 pairs with a large one are no 2,000 reads."""
    large = list(range(0, 2_000_000, 2))
    offsets, hashes = flat([[4, 5, 1_999_998], large])
    pairs = np.zeros(2000, "i8"), np.ones(2000, "i8")
    assert within(lambda: _native.jaccard(offsets, hashes, *pairs), 0.2)
    found = _native.jaccard(offsets, hashes, *pairs)
    assert set(found.tolist()) == {2 / 1_000_001}


def test_the_gil_is_released() -> None:
    a, b = permutations(64, 1)
    text = Exported(strings(["some words " * 100_000]).__arrow_c_array__())
    offsets, hashes = flat([list(range(100_000)), list(range(50_000, 150_000))])
    table = np.zeros((2, 64), "u4")
    one, many = (np.zeros(size, "i8") for size in (50, 300_000))
    calls: list[Callable[[], Any]] = [
        lambda: _native.sketches(text, 5, a, b),
        lambda: _native.ngram_sets(text, 5),
        lambda: _native.jaccard(offsets, hashes, one, one + 1),
        lambda: _native.agreement(table, many, many),
    ]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)  # so that only a release lets another thread run
    try:
        for call in calls:
            assert any(ran_beside(call) for _ in range(20))
    finally:
        sys.setswitchinterval(interval)


# ---- arguments ----

ONES = np.ones(3, "u4")
NUMBERS = np.array([0, 1])
OFFSETS, HASH = flat([[1, 2], [2, 3]])


@pytest.mark.parametrize(
    ("n", "error", "named"),
    [
        (0, ValueError, "got n = 0"),
        (np.array([5, -5]), ValueError, "got n = -5"),
        (np.array([5]), ValueError, "1 values of n for 2 texts"),
        (np.array([5, 5, 5]), ValueError, "3 values of n for 2 texts"),
        (np.array([[5, 5]]), ValueError, "expected 1 dimension of n, got 2"),
        (np.array([5, 5, 5, 5])[::2], ValueError, "n is not C-contiguous"),
        (np.array([5, 5], "u8"), TypeError, "expected an int64 array as n, got items of format"),
        (np.array([5, 5], "i4"), TypeError, "expected an int64 array as n, got items of format"),
        (np.array([5.0, 5.0]), TypeError, "expected an int64 array as n, got items of format 'd'"),
        (5.0, TypeError, "'float' object cannot be interpreted as an integer"),
        ([5, 5], TypeError, "'list' object cannot be interpreted as an integer"),
        (2**70, OverflowError, "Python int too large"),
    ],
)
def test_wrong_n(n: Any, error: type[Exception], named: str) -> None:
    texts = strings(["a b", "c"])
    calls: list[Callable[[], Any]] = [
        lambda: _native.sketches(texts, n, ONES, ONES),
        lambda: _native.ngram_sets(texts, n),
        lambda: _native.minhash(texts, n, ONES, ONES),
    ]
    for call in calls:
        with pytest.raises(error, match=re.escape(named)):
            call()


def test_n_may_be_a_number_of_numpy() -> None:
    n: Any = np.int64(2)
    assert sets_of(["a b c"], n) == sets_of(["a b c"], 2)


@pytest.mark.parametrize(
    ("a", "b", "error", "named"),
    [
        (ONES[:0], ONES[:0], ValueError, "got 0 and 0"),
        (ONES, ONES[:2], ValueError, "got 3 and 2"),
        (ONES.astype("i4"), ONES, TypeError, "uint32 array as a, got items of format 'i'"),
    ],
)
def test_wrong_permutations(a: Any, b: Any, error: type[Exception], named: str) -> None:
    with pytest.raises(error, match=re.escape(named)):
        _native.sketches(strings(["a b"]), 5, a, b)


def test_wrong_texts() -> None:
    with pytest.raises(TypeError, match="got list"):
        _native.sketches(["a"], 5, ONES, ONES)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="got list"):
        _native.ngram_sets(["a"], 5)  # type: ignore[arg-type]


LOW = np.array([-1, 0])
HIGH = np.array([1, 2])


@pytest.mark.parametrize(
    ("offsets", "hashes", "left", "right", "error", "named"),
    [
        (OFFSETS, HASH, HIGH, NUMBERS, ValueError, "pair 1 is of rows 2 and 1, there are 2"),
        (OFFSETS, HASH, NUMBERS, LOW, ValueError, "pair 0 is of rows 0 and -1, there are 2"),
        (OFFSETS[:1], HASH, NUMBERS, NUMBERS, ValueError, "pair 0 is of rows 0 and 0, there are 0"),
        (OFFSETS[:0], HASH, NUMBERS, NUMBERS, ValueError, "one more than there are sets"),
        (
            np.array([0, 2, 5]),
            HASH,
            NUMBERS,
            NUMBERS,
            ValueError,
            "set 1 is not strictly ascending",
        ),
        (OFFSETS - 1, HASH, NUMBERS, NUMBERS, ValueError, "not within the 4 hashes"),
        (OFFSETS[::-1].copy(), HASH, NUMBERS, NUMBERS, ValueError, "set 0 is not strictly"),
        (OFFSETS, HASH[::-1].copy(), NUMBERS, NUMBERS, ValueError, "set 0 is not strictly asc"),
        (OFFSETS, HASH // 2, NUMBERS, NUMBERS, ValueError, "set 1 is not strictly ascending"),
        (OFFSETS, HASH, NUMBERS, NUMBERS[:1], ValueError, "one row a pair, got 2 and 1"),
        (OFFSETS, HASH, NUMBERS.astype("u8"), NUMBERS, TypeError, "an int64 array as left"),
        (OFFSETS, HASH, NUMBERS, NUMBERS.astype("i4"), TypeError, "an int64 array as right"),
        (OFFSETS, HASH.astype("i8"), NUMBERS, NUMBERS, TypeError, "a uint64 array as hashes"),
        (OFFSETS.tolist(), HASH, NUMBERS, NUMBERS, TypeError, "as offsets, got list"),
    ],
)
def test_wrong_pairs_of_sets(
    offsets: Any, hashes: Any, left: Any, right: Any, error: type[Exception], named: str
) -> None:
    with pytest.raises(error, match=re.escape(named)):
        _native.jaccard(offsets, hashes, left, right)


TABLE = np.zeros((2, 6), "u4")


@pytest.mark.parametrize(
    ("table", "left", "right", "error", "named"),
    [
        (TABLE, HIGH, NUMBERS, ValueError, "pair 1 is of rows 2 and 1, there are 2"),
        (TABLE, NUMBERS, LOW, ValueError, "pair 0 is of rows 0 and -1, there are 2"),
        (TABLE, NUMBERS, NUMBERS[:1], ValueError, "one row a pair, got 2 and 1"),
        (TABLE[:, :0].copy(), NUMBERS, NUMBERS, ValueError, "at least 1 value, got 0"),
        (TABLE[0], NUMBERS, NUMBERS, ValueError, "expected 2 dimensions of signatures, got 1"),
        (TABLE[:, ::2], NUMBERS, NUMBERS, ValueError, "signatures is not C-contiguous"),
        (TABLE.astype("u8"), NUMBERS, NUMBERS, TypeError, "a uint32 array as signatures"),
    ],
)
def test_wrong_pairs_of_signatures(
    table: Any, left: Any, right: Any, error: type[Exception], named: str
) -> None:
    with pytest.raises(error, match=re.escape(named)):
        _native.agreement(table, left, right)


def test_arguments_are_let_go() -> None:
    n = np.array([2])
    arrays = (n, ONES, OFFSETS, HASH, NUMBERS, TABLE, HIGH)
    before = [sys.getrefcount(array) for array in arrays]
    for _ in range(3):
        _native.sketches(strings(["a b"]), n, ONES, ONES)
        _native.ngram_sets(strings(["a b"]), n)
        _native.jaccard(OFFSETS, HASH, NUMBERS, NUMBERS)
        _native.agreement(TABLE, NUMBERS, NUMBERS)
        calls: list[Callable[[], Any]] = [
            lambda: _native.sketches(strings(["a", "b"]), n, ONES, ONES),
            lambda: _native.ngram_sets(strings(["a", "b"]), n),
            lambda: _native.jaccard(OFFSETS, HASH, NUMBERS, HIGH),
            lambda: _native.agreement(TABLE, NUMBERS, HIGH),
        ]
        for call in calls:
            with pytest.raises(ValueError):
                call()
    assert [sys.getrefcount(array) for array in arrays] == before
