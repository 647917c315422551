"""The MinHash kernels against a slow reference, datasketch and fixed values, on every ISA."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import datasketch
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleanpipe import _native
from cleanpipe.signatures import permutations

from . import reference_tokens

ROOT = Path(__file__).resolve().parent.parent.parent
NOTHING = 2**32 - 1


def strings(texts: Sequence[str | None]) -> Any:
    return pa.array(texts, pa.large_string())


def mix64(x: int) -> int:
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD % 2**64
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 % 2**64
    return x ^ x >> 33


def fmix32(x: int) -> int:
    x = (x ^ x >> 16) * 0x85EBCA6B % 2**32
    x = (x ^ x >> 13) * 0xC2B2AE35 % 2**32
    return x ^ x >> 16


def shingles(text: str, n: int) -> set[int]:
    hashes = [token.hash for token in reference_tokens.tokens(text)]
    n = min(n, len(hashes))
    grams = [hashes[i : i + n] for i in range(len(hashes) - n + 1)] if hashes else []
    sums = (
        sum(h * 0x9E3779B97F4A7C15 ** (n - 1 - i) for i, h in enumerate(gram)) for gram in grams
    )
    return {mix64(total % 2**64) % 2**32 for total in sums}


def signature(text: str, n: int, a: list[int], b: list[int]) -> list[int]:
    found = [fmix32(h) for h in shingles(text, n)]
    return [
        min(((p * h + q) % 2**32 for h in found), default=NOTHING)
        for p, q in zip(a, b, strict=True)
    ]


def band_key(band: int, rows: list[int]) -> int:
    key = mix64(0x9E3779B97F4A7C15 ^ band)
    for low, high in zip(rows[::2], [*rows[1::2], 0], strict=False):
        key = mix64(key ^ (low | high << 32))
    return key


WORDS = st.sampled_from(["the", "cat", "Sat", "on", "我们", "天", "", "ปี", "é", "\ufffd", "don't"])
TEXTS = st.lists(WORDS, max_size=40).map(" ".join) | st.text(max_size=40)
NUMBERS = st.integers(0, NOTHING) | st.sampled_from([0, 1, NOTHING])


@given(
    st.lists(TEXTS, max_size=4),
    st.integers(1, 9),
    st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=70),
)
def test_the_definition(texts: list[str], n: int, numbers: list[tuple[int, int]]) -> None:
    """Any a and b, odd or not: the kernel only computes."""
    a, b = zip(*numbers, strict=True)
    found = _native.minhash(strings(texts), n, np.array(a, "u4"), np.array(b, "u4"))
    assert (found.dtype, found.shape) == (np.dtype("u4"), (len(texts), len(numbers)))
    assert found.tolist() == [signature(text, n, list(a), list(b)) for text in texts]


LONG = [
    *(" ".join(f"w{i * i % 7919}" for i in range(count)) for count in (1, 5, 400, 1030, 5000)),
    "今天的天气很好我们去公园玩" * 30,
    "",
    None,
    "spam " * 3000,
]


@pytest.mark.parametrize("seed", [0, 1, 42, 2**32 - 1])
@pytest.mark.parametrize("num_perm", [1, 7, 64, 128, 256])
def test_equal_to_datasketch(seed: int, num_perm: int) -> None:
    a, b = permutations(num_perm, seed)
    found = _native.minhash(strings(LONG), 5, a, b)
    offsets, grams = _native.ngrams(strings(LONG), 5)
    for row, (begin, end) in zip(found, pairwise(offsets.tolist()), strict=True):
        theirs = datasketch.MinHash(num_perm, seed, hashfunc=lambda gram: gram % 2**32)
        theirs.update_batch(grams[begin:end].tolist())
        assert row.tolist() == theirs.hashvalues.tolist()
        assert theirs.is_empty() == (begin == end)


# Written down, so that no change of a token, a gram, the scheme and datasketch together passes.
GOLDEN = {
    "The quick brown fox jumps over the lazy dog.": [526238227, 169454150, 543406479, 17607937],
    "今天的天气很好，我们去公园玩吧。": [311804868, 327666073, 148823985, 523232757],
    "word": [34500292, 1720044546, 863342178, 2856128292],
    "WORD!": [34500292, 1720044546, 863342178, 2856128292],
    "two words": [344424681, 3216026715, 175114265, 3118984419],
    "": [NOTHING] * 4,
    "... !": [NOTHING] * 4,
}


@pytest.mark.parametrize("text", GOLDEN)
def test_golden_signatures(text: str) -> None:
    found = _native.minhash(strings([text]), 5, *permutations(4, 1))
    assert found.tolist() == [GOLDEN[text]]


# ---- blocks and instruction sets ----


def digest() -> str:
    """Of signatures around the sizes of blocks (1024 grams) and of groups (32 permutations)."""
    lengths = [0, 1, 2, 7, 8, 9, 1022, 1023, 1024, 1025, 2047, 2048, 2049, 3333]
    draw = np.random.RandomState(7)
    texts = [" ".join(map(str, draw.randint(0, 10**6, length))) for length in lengths]
    total = hashlib.sha256()
    for num_perm in (1, 7, 8, 9, 31, 32, 33, 64, 100, 128, 129):
        for seed in (1, 2):
            total.update(
                _native.minhash(strings(texts), 1, *permutations(num_perm, seed)).tobytes()
            )
    extreme = np.array([0, 1, 2, 3, 2**31, 2**31 - 1, NOTHING, NOTHING - 1] * 5, "u4")
    total.update(_native.minhash(strings(texts), 2, extreme, extreme[::-1].copy()).tobytes())
    return total.hexdigest()


def run_with(isa: str, program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "CLEANPIPE_ISA": isa, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        cwd=ROOT,
    )


@pytest.mark.parametrize("isa", _native.ISAS)
def test_every_isa_gives_the_same(isa: str) -> None:
    program = "from tests.native.test_minhash import _native, digest; print(_native.ISA, digest())"
    done = run_with(isa, program)
    assert done.stdout.split() == [isa, digest()], done.stderr


@pytest.mark.parametrize("count", [1, 2, 9, 1023, 1024, 1025, 2047, 2048, 2049])
def test_every_gram_counts(count: int) -> None:
    """Permutation k takes gram k to 0, so every gram has to be met by every permutation."""
    texts = strings([" ".join(f"w{i}" for i in range(count))])
    b = np.array([-fmix32(gram % 2**32) % 2**32 for gram in _native.ngrams(texts, 1)[1].tolist()])
    found = _native.minhash(texts, 1, np.ones(count, "u4"), b.astype("u4"))
    assert not found.any()


def test_the_isa_can_be_chosen() -> None:
    assert _native.ISAS[-1] == "scalar"
    show = f"""
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("_native", {_native.__file__!r})
native = module_from_spec(spec)
spec.loader.exec_module(native)
print(native.ISA)
"""  # without the package, which takes its time
    assert run_with("", show).stdout.split() == [_native.ISAS[0]]
    for name in ("AVX2", "scalar ", "avx1024"):
        done = run_with(name, show)
        assert done.returncode == 1
        assert f"ImportError: CLEANPIPE_ISA is '{name}'" in done.stderr
        assert str(_native.ISAS) in done.stderr


# ---- threads, memory ----


def ran_beside(call: Callable[[], Any]) -> bool:
    """Whether this thread could run while another was in the call."""
    begun, ended = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        call()
        ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    beside = not ended.is_set()
    thread.join()
    return beside


def test_the_gil_is_released() -> None:
    a, b = permutations(128, 1)
    text = Exported(strings(["some words " * 100_000]).__arrow_c_array__())
    signatures = np.zeros((200_000, 8), "u4")
    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)  # so that only a release lets another thread run
    try:
        assert any(ran_beside(lambda: _native.minhash(text, 5, a, b)) for _ in range(20))
        assert any(ran_beside(lambda: _native.band_keys(signatures, 8, 1)) for _ in range(20))
    finally:
        sys.setswitchinterval(interval)


class Exported:
    """Capsules made beforehand, for pyarrow's own export releases the GIL too."""

    def __init__(self, capsules: Any) -> None:
        self._capsules = capsules

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self._capsules


def test_arguments_are_let_go() -> None:
    a, b, table = np.ones(3, "u4"), np.ones(3, "u4"), np.ones((2, 3), "u4")
    wrong = np.ones(2, "u4")
    before = [sys.getrefcount(array) for array in (a, b, table, wrong)]
    for _ in range(3):
        _native.minhash(strings(["a b"]), 5, a, b)
        _native.band_keys(table, 1, 3)
        for call in (
            lambda: _native.minhash(strings(["a b"]), 5, a, wrong),
            lambda: _native.minhash(strings(["a b"]), 5, a, table),
            lambda: _native.minhash(pa.array([1]), 5, a, b),
            lambda: _native.band_keys(table, 4, 1),
            lambda: _native.band_keys(a, 1, 1),
        ):
            with pytest.raises((TypeError, ValueError)):
                call()
    assert [sys.getrefcount(array) for array in (a, b, table, wrong)] == before


# ---- band keys ----


@given(
    st.lists(NUMBERS, min_size=1, max_size=40),
    st.integers(1, 40),
    st.integers(1, 40),
    st.integers(0, 3),
)
def test_band_keys(row: list[int], bands: int, rows: int, others: int) -> None:
    bands = min(bands, len(row))
    rows = min(rows, len(row) // bands)
    table = np.array([row[::-1]] * others + [row], "u4")
    found = _native.band_keys(table, bands, rows)
    assert (found.dtype, found.shape) == (np.dtype("u8"), (others + 1, bands))
    want = [band_key(i, row[i * rows : i * rows + rows]) for i in range(bands)]
    assert found[-1].tolist() == want


def test_golden_band_keys() -> None:
    row = np.array([[1, 2, 3, NOTHING, 0, 0, 5]], "u4")
    assert _native.band_keys(row, 2, 3).tolist() == [[0xBC7E864B4F7FE6AE, 0x8E45AD5FB790794E]]
    assert _native.band_keys(row, 3, 2).tolist() == [
        [0x56197DF37712DAB0, 0xB217EBA3B8C2B658, 0xB723D3C58110304E]
    ]
    assert _native.band_keys(row, 1, 1).tolist() == [[0x8D82751399F55D54]]
    assert _native.band_keys(np.zeros((0, 7), "u4"), 7, 1).shape == (0, 7)


def test_a_key_tells_bands_and_rows_apart() -> None:
    keys = _native.band_keys(np.array([[5, 5, 5, 5, 5, 5], [5, 5, 5, 6, 5, 5]], "u4"), 3, 2)
    assert len(np.unique(keys[0])) == 3
    assert (keys[0] == keys[1]).tolist() == [True, False, True]


# ---- arguments ----

ONES = np.ones(3, "u4")


@pytest.mark.parametrize(
    ("n", "a", "b", "error", "named"),
    [
        (0, ONES, ONES, ValueError, "got n = 0"),
        (-5, ONES, ONES, ValueError, "got n = -5"),
        (5, ONES[:0], ONES[:0], ValueError, "got 0 and 0"),
        (5, ONES, ONES[:2], ValueError, "got 3 and 2"),
        (5, ONES.astype("i4"), ONES, TypeError, "uint32 array as a, got items of format 'i'"),
        (5, ONES, ONES.astype("u8"), TypeError, "uint32 array as b, got items of format 'L'"),
        (5, ONES.astype(">u4"), ONES, TypeError, "uint32 array as a, got items of format '>I'"),
        (5, ONES.reshape(1, 3), ONES, ValueError, "expected 1 dimension of a, got 2"),
        (5, ONES[::2], ONES[::2], ValueError, "a is not C-contiguous and aligned"),
        (5, np.ones(13, "u1")[1:].view("u4"), ONES, ValueError, "a is not C-contiguous and align"),
        (5, [1, 2, 3], ONES, TypeError, "expected a uint32 array as a, got list"),
        (5, ONES, None, TypeError, "expected a uint32 array as b, got NoneType"),
    ],
)
def test_wrong_permutations(n: int, a: Any, b: Any, error: type[Exception], named: str) -> None:
    with pytest.raises(error, match=re.escape(named)):
        _native.minhash(strings(["a b"]), n, a, b)


def test_wrong_texts() -> None:
    with pytest.raises(TypeError, match="got list"):
        _native.minhash(["a"], 5, ONES, ONES)  # type: ignore[arg-type]


SIX = np.zeros((2, 6), "u4")


@pytest.mark.parametrize(
    ("table", "bands", "rows", "error", "named"),
    [
        (SIX, 0, 1, ValueError, "the 6 values of a signature, got bands = 0, rows = 1"),
        (SIX, 1, 0, ValueError, "got bands = 1, rows = 0"),
        (SIX, -1, -1, ValueError, "got bands = -1, rows = -1"),
        (SIX, 4, 2, ValueError, "got bands = 4, rows = 2"),
        (SIX, 2**62, 4, ValueError, "rows = 4"),
        (SIX[0], 1, 1, ValueError, "expected 2 dimensions of signatures, got 1"),
        (SIX[:, ::2], 1, 1, ValueError, "signatures is not C-contiguous"),
        (SIX.T, 1, 1, ValueError, "signatures is not C-contiguous"),
        (SIX.astype("f4"), 1, 1, TypeError, "got items of format 'f'"),
        ("ab", 1, 1, TypeError, "expected a uint32 array as signatures, got str"),
    ],
)
def test_wrong_bands(table: Any, bands: int, rows: int, error: type[Exception], named: str) -> None:
    with pytest.raises(error, match=re.escape(named)):
        _native.band_keys(table, bands, rows)
