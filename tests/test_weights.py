"""Bytes of rows: against what Python says of the values."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from cleanpipe.weights import row_bytes, table_bytes


def weight(value: Any) -> int:
    if value is None:
        return 0
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, dict):
        return sum(map(weight, value.values()))
    if isinstance(value, (list, tuple)):
        return sum(map(weight, value))
    return 8


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.large_string(), ["", "a", "é中", None]),
        (pa.string(), ["abc", None]),
        (pa.binary(), [b"\xff\xfe", b""]),
        (pa.list_(pa.string()), [["a", "bc"], [], None, ["中"]]),
        (pa.large_list(pa.int32()), [[1, 2], [3]]),
        (pa.struct([("a", pa.string()), ("b", pa.list_(pa.string()))]), [{"a": "x", "b": ["yz"]}]),
        (pa.map_(pa.string(), pa.string()), [[("k", "value")], []]),
        (pa.list_(pa.list_(pa.string())), [[["a"], ["b", "cc"]], [[]]]),
    ],
)
def test_row_bytes(kind: pa.DataType, values: list[Any]) -> None:
    array = pa.array(values, kind)
    assert row_bytes(array).tolist() == [weight(value) for value in values]
    assert row_bytes(array.slice(1)).tolist() == [weight(value) for value in values[1:]]
    chunked = pa.chunked_array([array, array.slice(0, 1)])
    assert row_bytes(chunked).tolist() == [weight(value) for value in [*values, values[0]]]


def test_fixed_width_and_tables() -> None:
    assert row_bytes(pa.array([1, None], pa.int8())).tolist() == [8, 8]
    table = pa.table({"a": ["xx", "y"], "b": [1.0, 2.0]})
    assert table_bytes(table).tolist() == [10, 9]
    assert table_bytes(table.slice(0, 0)).tolist() == []
