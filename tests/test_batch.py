"""A batch of documents and the tables it becomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import xxhash

from cleanpipe.batch import (
    DROPPED,
    Batch,
    Drop,
    kept_schema,
    measures_schema,
    text_hashes,
    text_views,
)
from cleanpipe.references import Kind
from cleanpipe.weights import row_bytes

TEXT = pa.large_string()
COLUMNS = pa.schema([("year", pa.int64()), ("tags", pa.list_(TEXT))])
KINDS: dict[str, Kind] = {
    "first.language": "label",
    "first.size": "number",
    "cut.text_hash": "hash",
    "later.language": "label",
    "never.taken": "number",
}


def batch_of(texts: Sequence[str], columns: pa.RecordBatch | None = None, **more: Any) -> Batch:
    size = len(texts)
    text = pa.array(texts, TEXT)
    fields: dict[str, Any] = {
        "file": pa.array(["f"] * size, TEXT),
        "row": pa.array(range(size), pa.int64()),
        "id": pa.array([f"id{n}" for n in range(size)], TEXT),
        "url": pa.nulls(size, TEXT),
        "source": pa.array(["web"] * size, TEXT),
        "columns": pa.RecordBatch.from_pylist([{}] * size, pa.schema([]))
        if columns is None
        else columns,
        "measures": {},
        "bytes_in": row_bytes(text),
        "tokens_in": np.arange(size),
        **more,
    }
    return Batch(text=text, **fields)


def example() -> Batch:
    columns = pa.RecordBatch.from_pylist(
        [{"year": 1, "tags": ["a"]}, {"year": None, "tags": None}, {"year": 3, "tags": []}], COLUMNS
    )
    batch = batch_of(["one", "", "drei é"], columns)
    batch.measures = {
        "first.language": pa.array(["en", None, "de"], TEXT),
        "first.size": np.array([3.0, np.nan, 6.0]),
        "cut.text_hash": pa.array([b"x" * 16, None, None], pa.binary(16)),
        "later.language": pa.array([None, None, "fr"], TEXT),
    }
    batch.alive = np.array([True, False, False])
    batch.drops = {
        1: Drop("length", "tokens", "length.tokens", 0.0, ">= 1", ["a.b", "c.d"], match="w",
                match_start=1, match_end=2),
        2: Drop("exact", "exact", "exact", similarity=1.0, survivor_id="s", survivor_file="g",
                survivor_row=7),
    }  # fmt: skip
    return batch


LANGUAGE = pa.array(["en", None, "fr"], TEXT)


def test_kept() -> None:
    table = example().kept(LANGUAGE, KINDS)
    assert table.schema == kept_schema(COLUMNS, KINDS)
    assert table.to_pylist() == [
        {
            "id": "id0",
            "text": "one",
            "year": 1,
            "tags": ["a"],
            "cleanpipe": {"source": "web", "file": "f", "row": 0, "language": "en"},
        }
    ]


def test_a_label_called_test_set_is_kept_too() -> None:
    batch, kinds = example(), {**KINDS, "tests.test_set": "label", "more.test_set": "label"}
    for found, expected in (({}, None), ({"more.test_set": ["gsm", None, None]}, "gsm")):
        batch.measures |= {name: pa.array(values, TEXT) for name, values in found.items()}
        table = batch.kept(LANGUAGE, kinds)
        assert table.schema == kept_schema(COLUMNS, kinds)
        (row,) = table.column("cleanpipe").to_pylist()
        assert list(row.items())[-2:] == [("language", "en"), ("test_set", expected)]


def test_dropped() -> None:
    table = example().dropped(LANGUAGE)
    assert table.schema == DROPPED
    nothing = dict.fromkeys(DROPPED.names)
    by_rule, duplicate = table.to_pylist()
    assert by_rule == {
        **nothing,
        "id": "id1", "file": "f", "row": 1, "source": "web", "stage": "length", "rule": "tokens",
        "measure": "length.tokens", "value": 0.0, "bound": ">= 1", "also_failed": ["a.b", "c.d"],
        "match": "w", "match_start": 1, "match_end": 2,
    }  # fmt: skip
    assert duplicate == {
        **nothing,
        "id": "id2", "file": "f", "row": 2, "source": "web", "language": "fr", "stage": "exact",
        "rule": "exact", "measure": "exact", "also_failed": [], "survivor_id": "s",
        "survivor_file": "g", "survivor_row": 7, "similarity": 1.0,
    }  # fmt: skip


def test_the_promised_columns() -> None:
    promised = """id file row source language url stage rule measure value bound also_failed
    survivor_id survivor_file survivor_row survivor_run similarity test_set test_item match
    match_start match_end test_score test_evidence match_entry"""
    assert promised.split() == DROPPED.names
    whole = {"row", "survivor_row", "match_start", "match_end"}
    for column in DROPPED:
        expected: pa.DataType = TEXT
        if column.name in whole:
            expected = pa.int64()
        elif column.name in ("value", "similarity", "test_score"):
            expected = pa.float64()
        elif column.name == "also_failed":
            expected = pa.list_(TEXT)
        assert column.type == expected


def test_measured() -> None:
    table = example().measured(KINDS)
    assert table.schema == measures_schema(KINDS)
    columns = table.to_pydict()
    assert columns["kept"] == [True, False, False]
    assert columns["first.size"] == [3.0, None, 6.0]
    assert columns["first.language"] == ["en", None, "de"]
    assert columns["cut.text_hash"] == [b"x" * 16, None, None]
    assert columns["never.taken"] == [None] * 3
    # Of the text as it was read.
    assert columns["text_hash"][2] == xxhash.xxh3_128_digest("drei é".encode())


def test_the_text_hash_stays_that_of_the_text_read() -> None:
    batch = example()
    before = batch.measured(KINDS).column("text_hash")
    batch.text = pa.array(["changed"] * 3, TEXT)
    assert batch.measured(KINDS).column("text_hash") == before


def test_the_last_label_taken() -> None:
    batch = example()
    found = batch.label("language", KINDS)
    assert found is not None and found.to_pylist() == ["en", None, "fr"]
    assert batch.label("size", KINDS) is None
    assert batch.label("nobody", KINDS) is None


@pytest.mark.parametrize("columns", [True, False])
def test_spooled_and_back(columns: bool) -> None:
    batch = example()
    if not columns:
        batch.columns = batch_of(["", "", ""]).columns
    schema = batch.columns.schema
    table = batch.spooled(KINDS)
    (spooled,) = table.combine_chunks().to_batches()
    again = Batch.unspooled(spooled, KINDS, schema)
    assert again.text.to_pylist() == ["one", "", ""]  # texts of the dropped are not carried on
    assert again.alive.tolist() == [True, False, False]
    assert again.drops == batch.drops
    assert again.columns == batch.columns
    again.text = batch.text
    assert again.kept(LANGUAGE, KINDS) == batch.kept(LANGUAGE, KINDS)
    assert again.dropped(LANGUAGE) == batch.dropped(LANGUAGE)
    assert again.measured(KINDS) == batch.measured(KINDS)
    assert again.bytes_in.tolist() == [3, 0, 7]
    assert again.tokens_in.tolist() == [0, 1, 2]
    again.alive[0] = False  # may be changed


def test_texts_of_slices_are_not_mixed_up() -> None:
    whole = pa.array(["zero", "one", "", "drei é", "four"], TEXT)
    for start in range(6):
        for size in range(6 - start):
            part = whole.slice(start, size)
            texts = [bytes(view).decode() for view in text_views(part)]
            assert texts == part.to_pylist()
            assert row_bytes(part).tolist() == [len(text.encode()) for text in texts]
            assert text_hashes(part).to_pylist() == [
                xxhash.xxh3_128_digest(text.encode()) for text in texts
            ]
