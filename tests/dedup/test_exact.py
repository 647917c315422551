"""``exact``: same bytes, same document; checked against Python's own dictionary."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from cleanpipe.dedup.exact import Exact
from cleanpipe.units import Units

TEXTS = st.lists(
    st.sampled_from(["", " ", "a", "a ", "A", "é", "e\u0301", "\0", "长" * 40, "x" * 300])
)


def units(texts: list[str]) -> Units:
    return Units(pa.array(texts, pa.large_string()))


def members(texts: list[str], ranks: list[int] | None = None) -> pa.Table:
    """What the engine hands to ``group``: sketches with ranks, sorted by (bucket, rank)."""
    sketch = Exact().sketch(units(texts))
    rank = pa.array(range(len(texts)) if ranks is None else ranks, pa.int64())
    return sketch.append_column("rank", rank).sort_by(
        [("bucket", "ascending"), ("rank", "ascending")]
    )


def pairs(edges: pa.Table) -> dict[int, int]:
    return dict(zip(edges["later"].to_pylist(), edges["earlier"].to_pylist(), strict=True))


def test_sketch_is_xxh3_of_the_utf8_bytes() -> None:
    texts = ["", "plain", "日本語", "\0"]
    sketch = Exact().sketch(units(texts))
    digests = [xxhash.xxh3_128_digest(text.encode()) for text in texts]
    assert sketch["digest"].to_pylist() == digests
    assert sketch["bucket"].to_pylist() == [
        xxhash.xxh3_128_intdigest(text.encode()) % 2**64 for text in texts
    ]
    assert sketch["unit"].to_pylist() == [0, 1, 2, 3]
    assert sketch.schema.field("bucket").type == pa.uint64()
    assert sketch.schema.field("digest").type == Exact.payload.field("digest").type


@pytest.mark.parametrize(("start", "length"), [(0, 5), (1, 3), (2, 0), (4, 1)])
def test_sketch_of_a_slice_is_a_slice_of_the_sketch(start: int, length: int) -> None:
    texts = pa.array(["a", "bb", "", "dddd", "é"], pa.large_string())
    whole = Exact().sketch(Units(texts))["digest"].to_pylist()
    part = Exact().sketch(Units(texts.slice(start, length)))["digest"].to_pylist()
    assert part == whole[start : start + length]


def test_nothing_in_nothing_out() -> None:
    assert Exact().sketch(units([])).num_rows == 0
    assert Exact().sketch(Units(pa.array([], pa.large_string()))).num_rows == 0
    edges = Exact().group(members([]))
    assert edges.num_rows == 0
    assert edges.schema == pa.schema(
        [("later", pa.int64()), ("earlier", pa.int64()), ("similarity", pa.float64())]
    )


def test_empty_texts_are_duplicates_of_each_other() -> None:
    assert pairs(Exact().group(members(["", "a", "", ""]))) == {2: 0, 3: 0}


def test_the_first_in_rank_order_survives_not_the_first_seen() -> None:
    edges = Exact().group(members(["same", "same", "same"], [7, 3, 5]))
    assert pairs(edges) == {7: 3, 5: 3}
    assert set(edges["similarity"].to_pylist()) == {1.0}


def test_equal_buckets_with_other_digests_stay_apart() -> None:
    low = b"\1" * 8
    high = [b"\2" * 8, b"\3" * 8, b"\2" * 8, b"\3" * 8, b"\4" * 8]
    table = pa.table(
        {
            "rank": pa.array(range(5), pa.int64()),
            "bucket": pa.array([int.from_bytes(low, "big")] * 5, pa.uint64()),
            "digest": pa.array([half + low for half in high], pa.binary(16)),
        }
    )
    assert pairs(Exact().group(table)) == {2: 0, 3: 1}
    assert pairs(Exact().group(table.slice(1))) == {3: 1}


@given(TEXTS)
def test_against_a_dictionary(texts: list[str]) -> None:
    first: dict[str, int] = {}
    expected = {}
    for rank, text in enumerate(texts):
        if first.setdefault(text, rank) != rank:
            expected[rank] = first[text]
    assert pairs(Exact().group(members(texts))) == expected


def test_many_at_once() -> None:
    rng = np.random.default_rng(1)
    texts = [f"document {number}" for number in rng.integers(0, 500, 20_000)]
    edges = Exact().group(members(texts))
    assert edges.num_rows == len(texts) - len(set(texts))
    assert all(texts[later] == texts[earlier] for later, earlier in pairs(edges).items())


def test_pickles() -> None:
    assert pickle.loads(pickle.dumps(Exact())) == Exact()
