"""The n-gram index as a file: what is in it, how it travels, and what is refused."""

from __future__ import annotations

import os
import pickle
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cleanpipe import _native
from cleanpipe.dedup.ngram_index import NgramIndex
from cleanpipe.errors import ConfigError
from cleanpipe.registry import stages

ROOT = Path(__file__).resolve().parent.parent.parent
TESTS = ["The quick brown fox jumps over the lazy dog.", "我爱北京天安门，天安门上太阳升。"]
TEXTS = ["He said: the QUICK, brown fox jumps!", None, "", "他爱北京天安门吗？", "nothing of it"]


def passages(texts: Sequence[str | None], index: NgramIndex) -> list[list[str]]:
    hits = index.query(texts)
    found: list[list[str]] = []
    for i, text in enumerate(texts):
        part = slice(hits.offsets[i], hits.offsets[i + 1])
        data = (text or "").encode()
        pairs = zip(hits.starts[part], hits.ends[part], strict=True)
        found.append([data[start:end].decode() for start, end in pairs])
    return found


def test_texts_in_passages_out() -> None:
    index = NgramIndex.build(TESTS, 4)
    assert (index.n, len(index), index.values, index.path) == (4, 6 + 11, None, None)
    assert passages(TEXTS, index) == [
        ["the QUICK, brown fox", "QUICK, brown fox jumps"],
        [],
        [],
        ["爱北京天", "北京天安", "京天安门"],
        [],
    ]
    hits = index.query(pa.chunked_array([TEXTS]))
    assert hits.positions.tolist() == [2, 3, 1, 2, 3]
    assert hits.offsets.tolist() == [0, 2, 2, 2, 5, 5]
    assert [column.dtype for column in hits] == ["i8", "i8", "i8", "i8", "u4"]
    hashes = _native.ngrams(pa.array(TEXTS), 4)[1]
    assert set(index.hashes[hits.ordinals].tolist()) <= set(hashes.tolist())


def test_several_are_asked_at_once() -> None:
    indexes = [NgramIndex.build(TESTS, n) for n in (4, 1, 4, 9)]
    for index, hits in zip(indexes, NgramIndex.query_all(indexes, TEXTS), strict=True):
        alone = index.query(TEXTS)
        assert len(alone.ordinals) > 0 or index.n == 9
        assert [each.tolist() for each in hits] == [each.tolist() for each in alone]
    assert NgramIndex.query_all([], TEXTS) == []
    with pytest.raises(ValueError, match="code tokens and of others cannot be asked together"):
        NgramIndex.query_all([indexes[0], NgramIndex.build(TESTS, 4, code=True)], TEXTS)


def test_values_go_beside_the_ordinals() -> None:
    hashes = _native.ngrams(pa.array(["a b c d"]), 2)[1]
    index = NgramIndex.build(hashes, 2, [10, 11, 12])
    hits = index.query(["c d, b c", "a b"])
    assert index.values is not None
    assert index.values[hits.ordinals].tolist() == [12, 11, 10]
    assert index.values.dtype == np.uint32
    for array in (index.hashes, index.values):
        assert not array.flags.writeable


# ---- the same set, the same bytes ----


def saved(index: NgramIndex, path: Path) -> bytes:
    index.save(path)
    return path.read_bytes()


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 12) | st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1))),
    st.randoms(use_true_random=False),
    st.booleans(),
    st.data(),
)
def test_order_repetition_and_parts_do_not_matter(
    pairs: list[tuple[int, int]], order: random.Random, valued: bool, data: Any
) -> None:
    def build(some: Sequence[tuple[int, int]]) -> NgramIndex:
        hashes = np.array([hash_ for hash_, _ in some], dtype=np.uint64)
        values = np.array([value for _, value in some], dtype=np.int64)
        return NgramIndex.build(hashes, 8, values if valued else None)

    whole = build(pairs)
    least: dict[int, int] = {}
    for hash_, value in pairs:
        least[hash_] = min(value, least.get(hash_, value))
    assert whole.hashes.tolist() == sorted(least)
    if valued:
        assert whole.values is not None
        assert whole.values.tolist() == [least[hash_] for hash_ in sorted(least)]

    shuffled = [*pairs, *pairs[:3]]
    order.shuffle(shuffled)
    cut = data.draw(st.integers(0, len(shuffled)))
    merged = NgramIndex.merge([build(shuffled[:cut]), build([]), build(shuffled[cut:])])
    for other in (build(shuffled), merged):
        assert other.fingerprint == whole.fingerprint
        assert pickle.dumps(other) == pickle.dumps(whole)


def test_the_fingerprint_is_of_all_there_is() -> None:
    hashes = np.arange(5, dtype=np.uint64)
    indexes = [
        NgramIndex.build(hashes, 8),
        NgramIndex.build(hashes, 9),
        NgramIndex.build(hashes[1:], 8),
        NgramIndex.build(hashes, 8, hashes),
        NgramIndex.build(hashes, 8, hashes + np.uint64(1)),
    ]
    assert len({index.fingerprint for index in indexes}) == 5


def test_golden_file(tmp_path: Path) -> None:
    """No change of the tokens, the hashes or the format goes unnoticed by old files."""
    index = NgramIndex.build(["the quick brown fox"], 3, None)
    data = saved(index, tmp_path / "index")
    assert index.fingerprint == data[48:64].hex() == "e498202936a616e053619991a7476873"
    assert data.hex(" ", -8) == (
        "63706e6772616d73 0100000002000000 31352e302e300000 0000000000000000 "
        "0300000000000000 0200000000000000 e498202936a616e0 53619991a7476873 "
        "86d985e25b06d248 6ef81a6160db0cab 4000002042c00000 0000000002000000"
    )


def test_merging() -> None:
    parts = [NgramIndex.build([text], 4) for text in TESTS]
    merged = NgramIndex.merge(parts)
    assert merged.fingerprint == NgramIndex.build(TESTS, 4).fingerprint
    assert passages(TEXTS, merged) == passages(TEXTS, NgramIndex.build(TESTS[::-1], 4))
    hashes = np.arange(3, dtype=np.uint64)
    with pytest.raises(ValueError, match="no index to merge"):
        NgramIndex.merge([])
    with pytest.raises(ValueError, match=re.escape("different n do not merge: n = [4, 5]")):
        NgramIndex.merge([*parts, NgramIndex.build(TESTS, 5)])
    with pytest.raises(ValueError, match="with values and without"):
        NgramIndex.merge([NgramIndex.build(hashes, 4, hashes), *parts])


def test_code_tokens() -> None:
    head, other = "if a == b:", "if a != b:"
    index = NgramIndex.build([head], 5, code=True)
    assert index.code and not NgramIndex.build([head], 5).code
    assert [len(passage) for passage in passages([head, other], index)] == [2, 0]
    hashes = _native.ngrams(pa.array([head]), 5, code=True)[1]
    assert NgramIndex.build(hashes, 5, code=True).fingerprint == index.fingerprint
    assert NgramIndex.build(hashes, 5).fingerprint != index.fingerprint
    assert pickle.loads(pickle.dumps(index)).code
    assert NgramIndex.merge([index, index]).fingerprint == index.fingerprint
    with pytest.raises(ValueError, match="code tokens and of others do not merge"):
        NgramIndex.merge([index, NgramIndex.build([head], 5)])


# ---- files and processes ----


def test_saved_and_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = NgramIndex.build(TESTS, 4)
    path = tmp_path / "new" / "tests.index"
    built.save(path)
    built.save(str(path))  # replaces it
    assert os.listdir(path.parent) == ["tests.index"]
    monkeypatch.chdir(path.parent)
    opened = NgramIndex.open("tests.index")
    assert (opened.path, opened.n, len(opened)) == (str(path), 4, len(built))
    assert opened.fingerprint == built.fingerprint
    assert opened.nbytes == built.nbytes == path.stat().st_size
    assert passages(TEXTS, opened) == passages(TEXTS, built)


def test_pickled_by_path(tmp_path: Path) -> None:
    path = tmp_path / "index"
    NgramIndex.build(np.arange(100_000, dtype=np.uint64), 4).save(path)
    opened = NgramIndex.open(path)
    data = pickle.dumps(opened)
    assert len(data) < 500
    again = pickle.loads(data)
    assert (again.path, again.fingerprint) == (opened.path, opened.fingerprint)
    NgramIndex.build(TESTS, 4).save(path)
    with pytest.raises(ConfigError, match=f"{re.escape(str(path))}: the index was replaced"):
        pickle.loads(data)
    # What is mapped stays what it was.
    assert opened.hashes.tolist() == list(range(100_000))
    path.unlink()
    with pytest.raises(ConfigError, match="No such file"):
        pickle.loads(data)


def test_one_that_has_no_file_is_pickled_whole() -> None:
    index = NgramIndex.build(TESTS, 4)
    again = pickle.loads(pickle.dumps(index))
    assert again.fingerprint == index.fingerprint
    assert passages(TEXTS, again) == passages(TEXTS, index)


def test_processes_share_one_map(tmp_path: Path) -> None:
    path = tmp_path / "index"
    NgramIndex.build(TESTS, 4).save(path)
    code = (
        "import sys, pickle\n"
        "index = pickle.load(sys.stdin.buffer)\n"
        "lines = [line for line in open('/proc/self/maps') if line.rstrip().endswith(index.path)]\n"
        "print([line.split()[1] for line in lines], index.query(['我爱北京']).ordinals.tolist())"
    )
    if not Path("/proc/self/maps").exists():
        pytest.skip("needs /proc")
    opened = NgramIndex.open(path)
    ran = subprocess.run(
        [sys.executable, "-c", code],
        input=pickle.dumps(opened),
        capture_output=True,
        cwd=ROOT,
        check=True,
    )
    want = opened.query(["我爱北京"]).ordinals.tolist()
    assert len(want) == 1
    assert ran.stdout.decode().strip() == f"['r--s'] {want}"


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = saved(NgramIndex.build(TESTS, 4), tmp_path / "index")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        NgramIndex.build(TESTS, 5).save(tmp_path / "index")
    assert os.listdir(tmp_path) == ["index"]
    assert (tmp_path / "index").read_bytes() == old


# ---- what is refused ----


def small() -> bytes:
    index = NgramIndex.build(np.arange(9, dtype=np.uint64) << np.uint64(60), 3, range(9))
    return bytes(index._image)


def test_every_truncated_file(tmp_path: Path) -> None:
    data, path = small(), tmp_path / "index"
    for size in range(len(data)):
        path.write_bytes(data[:size])
        with pytest.raises(ConfigError) as caught:
            NgramIndex.open(path)
        assert str(caught.value).startswith(f"{path}: ")
        assert str(caught.value).endswith("; build it again from its test sets")


def test_every_flipped_bit(tmp_path: Path) -> None:
    data = small()
    for at in range(len(data)):
        for bit in range(8):
            broken = bytearray(data)
            broken[at] ^= 1 << bit
            with pytest.raises(ValueError, match="index"):
                NgramIndex(bytes(broken))


@pytest.mark.parametrize(
    ("at", "bytes_", "message"),
    [
        (0, b"PAR1", "not an n-gram index"),
        (8, b"\x02", "an n-gram index of format 2, not 1"),
        (12, b"\x09", "an n-gram index of token table 9 and Unicode 15.0.0, not 2 and 15.0.0"),
        (16, b"16", "an n-gram index of token table 2 and Unicode 16.0.0, not 2 and 15.0.0"),
        (64, b"\x01", "a damaged n-gram index: its checksum is another"),
        (48, b"\x01\x02", "a damaged n-gram index: its checksum is another"),
    ],
)
def test_what_is_said(tmp_path: Path, at: int, bytes_: bytes, message: str) -> None:
    data, path = small(), tmp_path / "index"
    path.write_bytes(data[:at] + bytes_ + data[at + len(bytes_) :])
    with pytest.raises(ConfigError) as caught:
        NgramIndex.open(path)
    assert str(caught.value) == f"{path}: {message}; build it again from its test sets"


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="none: No such file or directory; expected an n-gram"):
        NgramIndex.open(tmp_path / "none")
    with pytest.raises(ConfigError, match="Is a directory; expected an n-gram"):
        NgramIndex.open(tmp_path)


ONE = np.zeros(1, dtype=np.uint64)


@pytest.mark.parametrize(
    ("grams", "n", "values", "error", "message"),
    [
        (["a"], 0, None, ValueError, "n = 0"),
        (ONE, 0, None, ValueError, "got 0"),
        (["a"], 2, [1], ValueError, "not with texts"),
        ("a text", 2, None, TypeError, "got one string"),
        ([1], 2, None, TypeError, "got a 'int' object"),
        (ONE.astype(np.int64), 2, None, TypeError, "expected uint64 of one dimension, got int64"),
        (ONE.reshape(1, 1), 2, None, TypeError, "got uint64 of 2"),
        (ONE, 2, [1, 2], ValueError, "2 values for 1 hashes"),
        (ONE, 2, [-1], ValueError, "values are integers from 0"),
        (ONE, 2, [2**32], ValueError, "values are integers from 0"),
        (ONE, 2, [0.5], ValueError, "values are integers from 0"),
    ],
)
def test_what_cannot_be_built(grams: Any, n: int, values: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        NgramIndex.build(grams, n, values)


def test_it_is_no_stage() -> None:
    assert not [name for name, cls in stages().items() if "ngram_index" in cls.__module__]
