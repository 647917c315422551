"""``exact``: same bytes, same document; checked against Python's own dictionary."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from cleanpipe.dedup.exact import Exact
from cleanpipe.stage import Sketch
from cleanpipe.units import Units
from tests.filters.table import made

TEXTS = st.lists(
    st.sampled_from(["", " ", "a", "a ", "A", "é", "e\u0301", "\0", "长" * 40, "x" * 300])
)


def sketch_of(texts: list[str]) -> Sketch:
    return Exact().sketch(Units(pa.array(texts, pa.large_string())))


def test_sketch_is_xxh3_of_the_utf8_bytes() -> None:
    texts = ["", "plain", "日本語", "\0"]
    sketch = sketch_of(texts)
    digests = [xxhash.xxh3_128_digest(text.encode()) for text in texts]
    assert sketch.documents.to_pydict() == {"unit": [0, 1, 2, 3], "digest": digests}
    numbers = [xxhash.xxh3_128_intdigest(text.encode()) for text in texts]
    assert sketch.buckets.to_pydict() == {
        "unit": [0, 1, 2, 3],
        "bucket": [number % 2**64 for number in numbers],
        "fingerprint": [number >> 64 for number in numbers],
        "compare": [False] * 4,
    }


def check_types(sketch: Sketch) -> None:
    assert sketch.documents.schema.types == [pa.int64(), pa.binary(16)]
    assert sketch.documents.schema.field("digest").type == Exact.payload.field("digest").type
    assert sketch.buckets.schema == pa.schema(
        [
            ("unit", pa.int64()),
            ("bucket", pa.uint64()),
            ("fingerprint", pa.uint64()),
            ("compare", pa.bool_()),
        ]
    )


@pytest.mark.parametrize("texts", [[], ["a", ""]])
def test_types(texts: list[str]) -> None:
    check_types(sketch_of(texts))
    assert sketch_of(texts).documents.num_rows == sketch_of(texts).buckets.num_rows == len(texts)


@pytest.mark.parametrize(("start", "length"), [(0, 5), (1, 3), (2, 0), (4, 1)])
def test_sketch_of_a_slice_is_a_slice_of_the_sketch(start: int, length: int) -> None:
    texts = pa.array(["a", "bb", "", "dddd", "é"], pa.large_string())
    whole = Exact().sketch(Units(texts))
    part = Exact().sketch(Units(texts.slice(start, length)))
    for name in ("bucket", "fingerprint", "compare"):
        assert (
            part.buckets[name].to_pylist() == whole.buckets[name].slice(start, length).to_pylist()
        )
    digests = whole.documents["digest"].slice(start, length)
    assert part.documents["digest"].to_pylist() == digests.to_pylist()


@given(TEXTS)
def test_against_a_dictionary(texts: list[str]) -> None:
    """Rows of one bucket and fingerprint are texts of one key."""
    buckets = sketch_of(texts).buckets.to_pylist()
    groups: dict[tuple[int, int], list[str]] = {}
    for row in buckets:
        groups.setdefault((row["bucket"], row["fingerprint"]), []).append(texts[row["unit"]])
    assert len(groups) == len(set(texts))
    assert all(len(set(group)) == 1 for group in groups.values())


def test_what_it_says_of_itself() -> None:
    assert Exact.identity
    assert Exact().measure_name == "exact"
    assert not Exact().ordering() and not Exact().needs()
    stage = made(Exact, {"prefer": ["longest"]})
    assert stage.ordering() == ("longest",) and stage.needs() == ("tokens",)


def test_pickles() -> None:
    for parameters in ({}, {"prefer": [{"source": ["a"]}, "longest"]}):
        stage = made(Exact, parameters)
        assert pickle.loads(pickle.dumps(stage)) == stage
