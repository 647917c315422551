"""``minhash``: what it accepts, its estimates, and its rows in datasketch."""

from __future__ import annotations

from typing import Any

import datasketch
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import cleanpipe as cp
from cleanpipe import _native
from cleanpipe.signatures import permutations

TEXTS = ["The quick brown fox jumps over the lazy dog.", None, "", "今天的天气很好", "word"]


@pytest.mark.parametrize(
    "texts",
    [
        TEXTS,
        tuple(TEXTS),
        pa.array(TEXTS),
        pa.array(TEXTS, pa.large_string()),
        pa.array(["x", *TEXTS]).slice(1),
        pa.chunked_array([TEXTS[:2], TEXTS[2:]]),
        pd.Series(TEXTS),
        pd.Series(TEXTS, dtype="string"),
    ],
    ids=lambda texts: type(texts).__name__,
)
def test_all_kinds_of_texts(texts: Any) -> None:
    found = cp.minhash(texts)
    assert (found.dtype, found.shape) == (np.dtype("u4"), (5, 128))
    want = _native.minhash(pa.array(TEXTS), 5, *permutations(128, 1))
    assert found.tolist() == want.tolist()
    assert [bool((row == 2**32 - 1).all()) for row in found] == [False, True, True, False, False]


def test_no_texts() -> None:
    assert cp.minhash([]).shape == (0, 128)
    assert cp.minhash(pa.chunked_array([], pa.string()), num_perm=3).shape == (0, 3)


def test_large_inputs_come_in_parts() -> None:
    texts = [f"{i} " + "some words " * 100_000 for i in range(20)]  # 22 MB
    found = cp.minhash(texts, num_perm=2)
    assert found.tolist() == [cp.minhash([text], num_perm=2)[0].tolist() for text in texts]


@pytest.mark.parametrize("seed", [0, 1, 7, 2**32 - 1])
@pytest.mark.parametrize("num_perm", [1, 7, 64, 128, 256])
def test_permutations_are_those_of_datasketch(num_perm: int, seed: int) -> None:
    theirs = datasketch.MinHash(num_perm, seed, scheme="affine32").permutations
    assert np.array(permutations(num_perm, seed)).tolist() == np.array(theirs).tolist()


def test_a_row_is_a_minhash_of_datasketch() -> None:
    """It compares with, merges with and is found by MinHashes that datasketch made itself."""
    texts = ["a b c d e f g h", "a b c d e f g h i j", "one two three four five six"]
    rows = cp.minhash(texts, ngram=2, num_perm=64, seed=9)
    ours = [datasketch.MinHash(seed=9, hashvalues=row, scheme="affine32") for row in rows]
    offsets, grams = _native.ngrams(pa.array(texts), 2)
    theirs = [
        datasketch.MinHash(num_perm=64, seed=9, hashfunc=lambda gram: gram % 2**32) for _ in texts
    ]
    for i, their in enumerate(theirs):
        their.update_batch(grams[offsets[i] : offsets[i + 1]].tolist())
    assert ours == theirs
    index = datasketch.MinHashLSH(threshold=0.5, num_perm=64)
    for i, their in enumerate(theirs):
        index.insert(i, their)
    assert [sorted(index.query(our)) for our in ours] == [[0, 1], [0, 1], [2]]
    ours[2].merge(theirs[0])
    assert ours[2] == datasketch.MinHash.union(theirs[0], theirs[2])


def test_the_estimate() -> None:
    """60 of 100 shingles in common, within 4 standard errors of sqrt(0.6 * 0.4 / 4096)."""
    texts = [" ".join(f"w{i}" for i in range(*ends)) for ends in ((0, 80), (20, 100))]
    left, right = cp.minhash(texts, ngram=1, num_perm=4096)
    assert abs(float((left == right).mean()) - 0.6) < 4 * 0.0077


def test_case_and_punctuation_do_not_matter() -> None:
    one, two, other = cp.minhash(["The cat, 我们!", "the CAT 我 们", "the cats 我们"], ngram=2)
    assert one.tolist() == two.tolist() != other.tolist()


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"num_perm": 0}, "num_perm is at least 1, got 0"),
        ({"num_perm": -1}, "num_perm is at least 1, got -1"),
        ({"ngram": 0}, "ngram is at least 1, got 0"),
        ({"seed": -1}, "seed is 0 to 2\\*\\*32 - 1, got -1"),
        ({"seed": 2**32}, "got 4294967296"),
    ],
)
def test_numbers_out_of_range(wrong: dict[str, int], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        cp.minhash(["a"], **wrong)


@pytest.mark.parametrize(
    ("texts", "named"),
    [
        ("one text", "got one str"),
        ([1], "got int"),
        (pa.array([1]), "got one of int64"),
        (pd.DataFrame({"text": ["a"]}), "got a table"),
        (7, "got int"),
    ],
)
def test_wrong_texts(texts: Any, named: str) -> None:
    with pytest.raises(TypeError, match=named):
        cp.minhash(texts)
