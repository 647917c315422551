"""How many bytes each row of a column holds: what batches and row groups are cut by."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Weights = npt.NDArray[np.int64]
_FIXED = 8
"""Taken for every value of a type of fixed width, bytes."""


def row_bytes(array: pa.Array) -> Weights:
    """Bytes of the values in each row, int64, shape (n,); a function of the values alone.

    Exact for strings and binary, 8 for a value of fixed width, the sum of what is inside for
    lists, maps and structs; other types count as fixed.
    """
    kind = array.type
    if isinstance(array, pa.ChunkedArray):
        parts = [row_bytes(chunk) for chunk in array.chunks]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    if pa.types.is_large_string(kind) or pa.types.is_large_binary(kind):
        return _filled(pc.binary_length(array))
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _filled(pc.binary_length(array))
    if pa.types.is_struct(kind):
        total = np.zeros(len(array), dtype=np.int64)
        for field in array.flatten():
            total += row_bytes(field)
        return total
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _inside(array, row_bytes(array.flatten()))
    if pa.types.is_map(kind):
        entries = array.cast(
            pa.list_(pa.struct([("key", kind.key_type), ("value", kind.item_type)]))
        )
        return _inside(entries, row_bytes(entries.flatten()))
    return np.full(len(array), _FIXED, dtype=np.int64)


def table_bytes(table: pa.Table | pa.RecordBatch) -> Weights:
    """The sum of :func:`row_bytes` over the columns, int64, shape (n,)."""
    total = np.zeros(table.num_rows, dtype=np.int64)
    for column in table.columns:
        total += row_bytes(column)
    return total


def _filled(lengths: pa.Array) -> Weights:
    filled: Weights = pc.fill_null(lengths, 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return filled


def _inside(lists: pa.Array, values: Weights) -> Weights:
    counts = _filled(pc.list_value_length(lists))
    ends = np.concatenate([[0], np.cumsum(values)])
    stops = np.cumsum(counts)
    inside: Weights = ends[stops] - ends[stops - counts]
    return inside
