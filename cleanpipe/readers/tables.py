"""Arrow batches as files have them -> batches of documents: roles, types, ill-formed text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe.columns import Columns
from cleanpipe.readers.batches import TABLE, Dead, ReadBatch, own_ids
from cleanpipe.readers.inputs import InputFile
from cleanpipe.readers.json_line import label
from cleanpipe.readers.repair import Flags, well_formed
from cleanpipe.readers.types import output_type

PART_BYTES = 4 << 20
"""What a reader decodes at a time, by the file's own account of its sizes."""


def plain(array: pa.Array[Any], kind: pa.DataType) -> pa.Array[Any]:
    """The array as ``kind``, which is its own output type or a wider one."""
    while isinstance(array, (pa.DictionaryArray, pa.RunEndEncodedArray)):
        if isinstance(array, pa.DictionaryArray):
            array = array.dictionary_decode()
        else:
            array = _run_end_decode(array)
    return array if array.type == kind else array.cast(kind)


_run_end_decode: Any = pc.run_end_decode  # the stubs miss it


def part_rows(rows: int, size: int) -> int:
    """How many rows to decode at a time, given that ``rows`` rows take ``size`` bytes."""
    return max(1, min(PART_BYTES * rows // max(1, size), 16384))


@dataclass(frozen=True)
class Checked:
    """Rows whose values are sound.

    Attributes:
        arrays: each column, shape (n,), all strings well-formed.
        changed: bool, shape (n,): rows in which something was replaced for that.
    """

    arrays: dict[str, pa.Array[Any]]
    changed: Flags


def checked(batch: pa.RecordBatch) -> Checked:
    """Check values and mend ill-formed text.

    Errors: ArrowInvalid where the values are corrupt.
    """
    arrays: dict[str, pa.Array[Any]] = {}
    changed: Flags = np.zeros(batch.num_rows, dtype=np.bool_)
    for name, array in zip(batch.schema.names, batch.columns, strict=True):
        arrays[name], flags = well_formed(array)
        if flags is not None:
            changed |= flags
    return Checked(arrays, changed)


def documents(found: Checked, first_row: int, file: InputFile, columns: Columns) -> ReadBatch:
    """Make documents of rows.

    Args:
        found: n rows.
        first_row: the row number of the first.
        file: where they come from.
        columns: the output's columns.
    """
    roles = columns.roles[file.source]
    names = columns.mapping[file.source]
    arrays, changed = found.arrays, found.changed
    size = len(changed)
    strings = pa.large_string()
    missing = pa.nulls(size, strings)
    text = plain(arrays[roles.text], strings) if roles.text in arrays else missing
    rows = np.arange(first_row, first_row + size, dtype=np.int64)
    ids = _labels(arrays.get(roles.id or ""), rows, file.file)
    url = arrays.get(roles.url or "", missing)
    url = plain(url, strings) if output_type(url.type) == strings else missing
    inputs = {output: name for name, output in names.items()}
    passed = [
        plain(arrays[inputs[field.name]], field.type)
        if inputs.get(field.name) in arrays
        else pa.nulls(size, field.type)
        for field in columns.schema
    ]
    table = pa.RecordBatch.from_arrays([pa.array(rows), ids, url, text], schema=TABLE)
    others = pa.RecordBatch.from_arrays(passed, schema=columns.schema)
    dead = []
    if text.null_count:
        keep = text.is_valid()
        lost = np.flatnonzero(~keep.to_numpy(zero_copy_only=False))
        message = f"`{roles.text}` is null"
        dead = [Dead("no_text", message, int(rows[place]), None, b"") for place in lost]
        changed[lost] = False
        table = table.filter(keep)
        if others.num_columns:  # without columns it has no rows to filter
            others = others.filter(keep)
    return ReadBatch(table.cast(TABLE), others, dead, int(changed.sum()))


def _labels(values: pa.Array[Any] | None, rows: npt.NDArray[np.int64], file: str) -> pa.Array[Any]:
    strings = pa.large_string()
    if values is None:
        values = pa.nulls(len(rows), strings)
    else:
        kind = output_type(values.type)
        if kind == strings or pa.types.is_integer(kind):
            values = plain(values, kind).cast(strings)
        else:
            values = pa.array([as_text(value) for value in values.to_pylist()], strings)
    if values.null_count:
        values = pc.coalesce(values, own_ids(file, rows))
    return values


def as_text(value: Any) -> str | None:
    """A value as Python has it for Arrow's, as text: what is no string as JSON writes it."""
    if value is None or isinstance(value, (bool, float)):
        return label(value)
    try:
        encoded = str(msgspec.json.encode(value), "utf-8")
    except (TypeError, ValueError):  # a type that JSON has no word for
        return str(value)
    # Dates, decimals and bytes become JSON strings: their quotes are no part of a name.
    return str(msgspec.json.decode(encoded)) if encoded.startswith('"') else encoded
