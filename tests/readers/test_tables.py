"""Parquet and Arrow: types, roles, ill-formed text, corrupt pages, memory."""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cleanpipe.errors import ConfigError
from cleanpipe.readers.repair import well_formed
from cleanpipe.readers.types import output_type

Load = Callable[..., Any]
NAMES = ["a.parquet", "a.arrow"]
U = "\ufffd"


def _table(rows: int = 1000) -> pa.Table:
    return pa.table(
        {
            "text": pa.array([f"text {row} " * (row % 40) for row in range(rows)]),
            "id": pa.array(range(rows), pa.int32()),
            "kind": pa.array([f"k{row % 3}" for row in range(rows)]).dictionary_encode(),
            "tags": pa.array([["a"] * (row % 3) for row in range(rows)]),
        }
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shard_bytes", [1, 5_000, 1 << 30])
@pytest.mark.parametrize("batch_bytes", [1, 5_000, 1 << 30])
def test_rows(load: Load, name: str, shard_bytes: int, batch_bytes: int) -> None:
    table = _table()
    reading = load(name, table, shard_bytes, batch_bytes)
    assert reading.columns.schema == pa.schema(
        [("kind", pa.large_string()), ("tags", pa.list_(pa.string()))]
    )
    assert reading.documents == [
        {"row": place, "id": str(place), "url": None}
        | {key: row[key] for key in ("text", "kind", "tags")}
        for place, row in enumerate(table.to_pylist())
    ]
    assert not reading.dead


@pytest.mark.parametrize("name", NAMES)
def test_null_texts_are_dead(load: Load, name: str) -> None:
    table = pa.table({"text": ["a", None, "", None], "n": [1, 2, 3, 4]})
    reading = load(name, table)
    assert [(d["row"], d["text"], d["n"]) for d in reading.documents] == [(0, "a", 1), (2, "", 3)]
    assert reading.reasons == [("no_text", 1), ("no_text", 3)]
    assert [d["id"] for d in reading.documents] == [f"{name}:0", f"{name}:2"]


def test_a_column_of_nulls_is_no_fault(load: Load) -> None:
    reading = load("a.parquet", pa.table({"text": pa.nulls(3), "n": pa.nulls(3)}))
    assert reading.reasons == [("no_text", 0), ("no_text", 1), ("no_text", 2)]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.string(), pa.large_string()),
        (pa.string_view(), pa.large_string()),
        (pa.binary(), pa.large_binary()),
        (pa.dictionary(pa.int8(), pa.string()), pa.large_string()),
        (pa.list_(pa.string()), pa.list_(pa.string())),
        (pa.timestamp("us", "UTC"), pa.timestamp("us", "UTC")),
        (pa.decimal128(9, 2), pa.decimal128(9, 2)),
        (pa.uint8(), pa.uint8()),
    ],
)
def test_output_types(kind: pa.DataType, expected: pa.DataType) -> None:
    assert output_type(kind) == expected


TEXT_TYPES = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.dictionary(pa.int32(), pa.string()),
]


@pytest.mark.parametrize("kind", TEXT_TYPES)
def test_texts_of_any_string_type(load: Load, kind: pa.DataType) -> None:
    values = ["a", "", None, "你好" * 20]
    texts = pa.array(values).cast(kind) if "view" in str(kind) else pa.array(values, kind)
    reading = load("a.arrow", pa.table({"text": texts, "url": texts}))
    assert reading.texts == ["a", "", "你好" * 20]
    assert [d["url"] for d in reading.documents] == ["a", "", "你好" * 20]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array([7, None, -(2**63)]), ["7", None, str(-(2**63))]),
        (pa.array(["x", "", None]), ["x", "", None]),
        (pa.array([1.5, 2.0, None]), ["1.5", "2.0", None]),
        (pa.array([True, None, False]), ["true", None, "false"]),
        (pa.array([[1], None, []]), ["[1]", None, "[]"]),
        (pa.array([datetime.date(2024, 5, 1), None, None]), ["2024-05-01", None, None]),
    ],
)
def test_ids(load: Load, values: Any, expected: list[str | None]) -> None:
    reading = load("a.parquet", pa.table({"text": ["a", "b", "c"], "id": values}))
    wanted = [f"a.parquet:{row}" if name is None else name for row, name in enumerate(expected)]
    assert [d["id"] for d in reading.documents] == wanted


def _raw(values: list[bytes | None], kind: Any) -> pa.Array[Any]:
    """A string array of these bytes, checked by nobody."""
    binary = pa.large_binary() if kind == pa.large_string() else pa.binary()
    array = pa.array(values, binary)
    return pa.Array.from_buffers(kind, len(array), array.buffers())


ILL = [b"good", b"a\xffb", None, b"\xe4\xbd", b"", b"\xed\xa0\x80"]
MENDED = ["good", f"a{U}b", None, U, "", U * 3]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_ill_formed_text_is_replaced(load: Load, name: str, kind: pa.DataType) -> None:
    table = pa.table({"text": _raw(ILL, kind)})
    reading = load(name, table)
    assert reading.texts == [text for text in MENDED if text is not None]
    assert reading.replaced == 3
    reading = load(name, pa.table({"text": ["t"] * 6, "c": _raw(ILL, kind)}))
    assert [d["c"] for d in reading.documents] == MENDED
    assert reading.replaced == 3


def test_ill_formed_text_inside_other_types() -> None:
    flat = _raw(ILL, pa.string())
    encoded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1, None, 3, 2], pa.int8()), flat)
    fixed, changed = well_formed(encoded)
    assert fixed.to_pylist() == ["good", f"a{U}b", f"a{U}b", None, U, None]
    assert changed is not None and changed.tolist() == [False, True, True, False, True, False]

    lists = pa.ListArray.from_arrays(pa.array([0, 1, 3, 6], pa.int32()), flat)
    fixed, changed = well_formed(lists)
    assert fixed.to_pylist() == [["good"], [f"a{U}b", None], [U, "", U * 3]]
    assert changed is not None and changed.tolist() == [False, True, True]
    fixed, changed = well_formed(lists.slice(1, 1))
    assert fixed.to_pylist() == [[f"a{U}b", None]]

    structs = pa.StructArray.from_arrays([flat, pa.array(range(6))], ["s", "n"])
    fixed, changed = well_formed(structs.slice(1))
    assert [row["s"] for row in fixed.to_pylist()] == MENDED[1:]
    assert changed is not None and changed.tolist() == [True, False, True, False, True]


def test_broken_offsets_are_no_text() -> None:
    offsets = pa.py_buffer(np.array([0, 900, 4], np.int32).tobytes())
    broken = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"abcd")])
    with pytest.raises(pa.ArrowInvalid):
        well_formed(broken)


def test_a_corrupt_page_loses_the_rest_of_its_row_group(load: Load) -> None:
    texts = [f"{row} " + "".join(map(chr, range(65, 65 + row % 50))) for row in range(20_000)]
    sink = io.BytesIO()
    pq.write_table(
        pa.table({"text": texts}),
        sink,
        row_group_size=5_000,
        data_page_size=1024,
        compression="none",
        use_dictionary=False,
        write_page_checksum=True,
    )
    content = bytearray(sink.getvalue())
    place = content.index(b"7500 A") if b"7500 A" in content else content.index(b"7501 A")
    content[place] ^= 1
    for batch_bytes in (100, 1 << 20):
        reading = load("a.parquet", bytes(content), batch_bytes=batch_bytes)
        [dead] = reading.dead
        assert dead.reason == "unreadable"
        assert dead.row is not None and 5_000 <= dead.row <= 7_500
        assert "to 9999 are lost" in dead.message and "CRC" in dead.message
        rows = [*range(dead.row), *range(10_000, 20_000)]
        assert [d["row"] for d in reading.documents] == rows
        assert reading.texts == [texts[row] for row in rows]


@pytest.mark.parametrize("name", NAMES)
def test_damage_anywhere_is_never_a_crash(tmp_path: Path, load: Load, name: str) -> None:
    load("good.parquet", _table(2))  # the source has a readable file in any case
    load(name, _table(500))
    whole = (tmp_path / name).read_bytes()
    step = max(1, len(whole) // 150)
    random = np.random.default_rng(5)
    (tmp_path / name).unlink()
    for place in range(0, len(whole), step):
        damaged = bytearray(whole)
        if place // step % 2:
            damaged[place] ^= int(random.integers(1, 256))
        else:
            damaged = damaged[:place]
        _read_beside(load, tmp_path, name, bytes(damaged))


def _read_beside(load: Load, folder: Path, name: str, content: bytes) -> None:
    try:
        reading = load(name, content, 1000)
    except ConfigError:  # the footer is gone, or tells of other columns
        return
    for document in reading.documents:
        document["text"].encode()


def test_an_arrow_stream_is_read_whole(load: Load) -> None:
    table = _table()
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=100)
    content = sink.getvalue()
    reading = load("a.arrow", content, shard_bytes=100)
    assert reading.texts == table.column("text").to_pylist()
    reading = load("a.arrow", content[: len(content) // 2], shard_bytes=100)
    rows = len(reading.documents)
    assert rows in range(100, 1000, 100)
    assert reading.reasons == [("unreadable", rows)]


def test_compressed_record_batches(load: Load) -> None:
    table = _table()
    sink = io.BytesIO()
    with pa.ipc.new_file(
        sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")
    ) as writer:
        writer.write_table(table, max_chunksize=100)
    for shard_bytes in (1, 1 << 20):
        reading = load("a.feather", sink.getvalue(), shard_bytes)
        assert reading.texts == table.column("text").to_pylist()
        assert [d["row"] for d in reading.documents] == list(range(1000))
