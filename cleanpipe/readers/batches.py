"""What readers give: batches of documents, and what could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe.weights import row_bytes, table_bytes

RAW_BYTES = 64 * 1024
"""Most bytes of a dead record's raw content that are kept."""

MAX_DOCUMENT = 128 * 1024 * 1024
"""Most bytes of one line, or of one file that is a document; beyond it: dead, `too_long`."""

MAX_ROWS = 65536
"""Most documents in a batch, whatever their size."""

TABLE = pa.schema(
    [
        ("row", pa.int64()),
        ("id", pa.large_string()),
        ("url", pa.large_string()),
        ("text", pa.large_string()),
    ]
)


@dataclass(frozen=True)
class Dead:
    """One record that could not be read.

    Attributes:
        reason: ``bad_json``, ``no_text``, ``too_long``, ``truncated``, ``undecodable``
            or ``unreadable``.
        message: what was wrong, for people.
        row: 0-based row, or None where there is none. For ``truncated`` and ``unreadable``
            it is the first row that was lost.
        offset: byte offset of the line in the decompressed file, or None (Parquet, Arrow).
        raw: the first 64 KiB of its bytes; empty for Parquet and Arrow.
    """

    reason: str
    message: str
    row: int | None
    offset: int | None
    raw: bytes


@dataclass
class ReadBatch:
    """Documents in file order.

    Attributes:
        table: ``row`` (int64), ``id``, ``url`` (null where there is none) and ``text``
            (large_string); ids and texts are never null, all strings well-formed.
        columns: the same rows of the columns passed through, exactly ``Columns.schema``.
        dead: what could not be read near these rows, in file order.
        replaced: documents in which ill-formed UTF-8 or lone surrogates (in the text or
            any other column) became U+FFFD.
        misfits: values that went to ``extra``.
    """

    table: pa.RecordBatch
    columns: pa.RecordBatch
    dead: list[Dead] = field(default_factory=list)
    replaced: int = 0
    misfits: int = 0


def own_ids(file: str, rows: npt.NDArray[np.int64]) -> pa.Array[Any]:
    """``<file>:<row>`` for documents that bring no id."""
    strings = pa.large_string()
    numbers = pa.array(rows).cast(strings)
    joined: Any = pc.binary_join_element_wise
    return (
        pa.array([], strings)
        if not len(rows)
        else joined(pa.scalar(file, strings), numbers, pa.scalar(":", strings))
    )


def nothing(schema: pa.Schema, dead: list[Dead]) -> ReadBatch:
    """A batch without documents."""
    return ReadBatch(_empty(TABLE), _empty(schema), dead)


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], f.type) for f in schema], schema=schema)


def cut(parts: Iterable[ReadBatch], batch_bytes: int) -> Iterator[ReadBatch]:
    """Put parts together and cut them so that a batch holds at most ``batch_bytes``, its other
    columns included: they may be far larger than the text.

    A document that does not fit begins the next batch, so batches depend on nothing but
    the documents; one longer than ``batch_bytes`` is a batch by itself. Dead records,
    ``replaced`` and ``misfits`` go with the batch that is open when their part arrives.
    """
    held = _Held()
    for part in parts:
        held.dead += part.dead
        held.raw += sum(len(dead.raw) + 256 for dead in part.dead)
        held.replaced += part.replaced
        held.misfits += part.misfits
        sizes = row_bytes(part.table.column("text"))
        if part.columns.num_columns:
            sizes = sizes + table_bytes(part.columns)
        ends = np.cumsum(sizes)
        start = 0
        while start < len(ends):
            before = int(ends[start - 1]) if start else 0
            room = batch_bytes - held.size
            stop = int(np.searchsorted(ends, before + room, side="right"))
            stop = min(stop, start + MAX_ROWS - held.rows)
            if stop <= start:
                if held.rows:
                    yield held.release()
                    continue
                stop = start + 1
            held.add(part, start, stop, int(ends[stop - 1]) - before)
            start = stop
        if held.raw > batch_bytes:
            yield held.release(part)
        held.like = part
    if held.rows or held.dead or held.replaced or held.misfits:
        yield held.release(held.like)


class _Held:
    """The batch that is being filled."""

    def __init__(self) -> None:
        self.like: ReadBatch | None = None
        self._clear()

    def _clear(self) -> None:
        self.tables: list[pa.RecordBatch] = []
        self.columns: list[pa.RecordBatch] = []
        self.dead: list[Dead] = []
        self.rows = self.size = self.raw = self.replaced = self.misfits = 0

    def add(self, part: ReadBatch, start: int, stop: int, size: int) -> None:
        self.tables.append(part.table.slice(start, stop - start))
        self.columns.append(part.columns.slice(start, stop - start))
        self.rows += stop - start
        self.size += size

    def release(self, like: ReadBatch | None = None) -> ReadBatch:
        if not self.tables and like is not None:
            self.tables, self.columns = [like.table.slice(0, 0)], [like.columns.slice(0, 0)]
        batch = ReadBatch(
            _joined(self.tables), _joined(self.columns), self.dead, self.replaced, self.misfits
        )
        self._clear()
        return batch


_concat: Any = pa.concat_batches  # the stubs miss it


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else _concat(batches)
