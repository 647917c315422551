"""Arrow IPC: files record batch by record batch, streams whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from cleanpipe.columns import Columns
from cleanpipe.readers.batches import Dead, ReadBatch, nothing
from cleanpipe.readers.files import CONTENT_ERRORS, arrow_opened, broken
from cleanpipe.readers.inputs import InputFile, Piece
from cleanpipe.readers.tables import Checked, checked, documents, part_rows

_MAGIC = b"ARROW1"


def _is_file(native: pa.NativeFile) -> bool:
    magic = native.read(len(_MAGIC))
    native.seek(0)
    return bytes(magic) == _MAGIC


def _open(native: pa.NativeFile, fields: list[int] | None = None) -> Any:
    options = pa.ipc.IpcReadOptions(use_threads=False, included_fields=fields)
    if _is_file(native):
        return pa.ipc.open_file(native, options=options)
    return pa.ipc.open_stream(native, options=options)


def schema(file: InputFile) -> pa.Schema | None:
    """The file's columns, or None where they cannot be read.

    Errors: RunError where the file cannot be reached.
    """
    with arrow_opened(file, mapped=True) as (native, watched):
        try:
            found: pa.Schema = _open(native).schema
            return found
        except CONTENT_ERRORS as error:
            broken(file, error, watched)
            return None


def count_batches(file: InputFile) -> int | None:
    """Record batches of an IPC file; None for a stream and for what cannot be read.

    Errors: RunError where the file cannot be reached.
    """
    with arrow_opened(file, mapped=True) as (native, watched):
        try:
            return int(_open(native).num_record_batches) if _is_file(native) else None
        except CONTENT_ERRORS as error:
            broken(file, error, watched)
            return None


def count_rows(piece: Piece) -> int:
    """Rows of some record batches of an IPC file, up to the first that cannot be read.

    Errors: RunError where the file cannot be reached.
    """
    rows = 0
    with arrow_opened(piece.file, mapped=True) as (native, watched):
        try:
            kinds = _open(native).schema.types
            narrow = [place for place, kind in enumerate(kinds) if pa.types.is_primitive(kind)]
            reader = _open(native, [narrow[0] if narrow else 0])
            for place in range(piece.start, piece.stop):
                rows += reader.get_batch(place).num_rows
        except CONTENT_ERRORS as error:
            broken(piece.file, error, watched)
    return rows


def read(piece: Piece, columns: Columns) -> Iterator[ReadBatch]:
    """The documents of some record batches, or of a whole stream.

    A batch that cannot be read makes the rest of the piece one dead record.

    Errors: RunError where the file cannot be reached; ValueError for a piece whose first
    row is not known.
    """
    if piece.first_row is None:
        raise ValueError(f"{piece.file.file}: the scan has to give this piece its first row")
    row = piece.first_row
    with arrow_opened(piece.file, mapped=True) as (native, watched):
        for part in _parts(native, piece):
            if not isinstance(part, Checked):
                message = broken(piece.file, part, watched).message
                yield nothing(columns.schema, [Dead("unreadable", message, row, None, b"")])
                return
            yield documents(part, row, piece.file, columns)
            row += len(part.changed)


def _parts(native: pa.NativeFile, piece: Piece) -> Iterator[Checked | Exception]:
    """The rows of a piece, a few at a time, and the error that ends them, if any."""
    try:
        for batch in _batches(native, piece):
            # As a whole first: a slice of a batch with broken offsets may reach anywhere.
            batch.validate()
            step = part_rows(batch.num_rows, batch.nbytes)
            for start in range(0, batch.num_rows, step):
                yield checked(batch.slice(start, step))
    except CONTENT_ERRORS as error:
        yield error


def _batches(native: pa.NativeFile, piece: Piece) -> Iterator[pa.RecordBatch]:
    reader = _open(native)
    if isinstance(reader, pa.ipc.RecordBatchFileReader):
        for place in range(piece.start, piece.stop):
            yield reader.get_batch(place)
    else:
        yield from reader
