"""Parquet: row group by row group, pages checked, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from cleanpipe.columns import Columns
from cleanpipe.readers.batches import Dead, ReadBatch, nothing
from cleanpipe.readers.files import CONTENT_ERRORS, arrow_opened, broken
from cleanpipe.readers.inputs import InputFile, Piece
from cleanpipe.readers.tables import Checked, checked, documents, part_rows

_BUFFER = 1 << 20


def _open(native: pa.NativeFile) -> pq.ParquetFile:
    # Buffered and not pre-buffered: a column chunk is never in memory as a whole.
    return pq.ParquetFile(
        native, buffer_size=_BUFFER, pre_buffer=False, page_checksum_verification=True
    )


def schema(file: InputFile) -> pa.Schema | None:
    """The file's columns, or None where its footer cannot be read.

    Errors: RunError where the file cannot be reached.
    """
    with arrow_opened(file) as (native, watched):
        try:
            return _open(native).schema_arrow
        except CONTENT_ERRORS as error:
            broken(file, error, watched)
            return None


def row_groups(file: InputFile) -> list[tuple[int, int]]:
    """Rows and uncompressed bytes of each row group; none where the footer cannot be read.

    Errors: RunError where the file cannot be reached.
    """
    with arrow_opened(file) as (native, watched):
        try:
            footer = _open(native).metadata
            groups = [footer.row_group(place) for place in range(footer.num_row_groups)]
            return [(group.num_rows, group.total_byte_size) for group in groups]
        except CONTENT_ERRORS as error:
            broken(file, error, watched)
            return []


def read(piece: Piece, columns: Columns) -> Iterator[ReadBatch]:
    """The documents of some row groups.

    A page that cannot be read makes the rest of its row group one dead record; the next
    row groups are read.

    Errors: RunError where the file cannot be reached.
    """
    file = piece.file
    row = piece.first_row or 0
    with arrow_opened(file) as (native, watched):
        try:
            reader = _open(native)
        except CONTENT_ERRORS as error:
            message = broken(file, error, watched).message
            yield nothing(columns.schema, [Dead("unreadable", message, None, None, b"")])
            return
        for place in range(piece.start, piece.stop):
            group = reader.metadata.row_group(place)
            end = row + group.num_rows
            wrong = ""
            for part in _parts(reader, place):
                if not isinstance(part, Checked):
                    wrong = broken(file, part, watched).message
                    break
                yield documents(part, row, file, columns)
                row += len(part.changed)
            if wrong or row != end:
                wrong = wrong or "there are fewer rows than the footer says"
                message = f"rows {row} to {end - 1} are lost: {wrong}"
                yield nothing(columns.schema, [Dead("unreadable", message, row, None, b"")])
            row = end


def _parts(reader: pq.ParquetFile, place: int) -> Iterator[Checked | Exception]:
    """The rows of one row group, a few at a time, and the error that ends them, if any."""
    group = reader.metadata.row_group(place)
    try:
        for batch in reader.iter_batches(
            batch_size=part_rows(group.num_rows, group.total_byte_size),
            row_groups=[place],
            use_threads=False,
        ):
            yield checked(batch)
    except CONTENT_ERRORS as error:
        yield error
