"""Plain text: a file or a line is a document."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cleanpipe.columns import Columns
from cleanpipe.readers.batches import (
    MAX_DOCUMENT,
    RAW_BYTES,
    TABLE,
    Dead,
    ReadBatch,
    nothing,
    own_ids,
)
from cleanpipe.readers.files import Broken, stream
from cleanpipe.readers.inputs import Piece
from cleanpipe.readers.lines import BOM, Block, blocks
from cleanpipe.readers.repair import decoded


def read(piece: Piece, columns: Columns) -> Iterator[ReadBatch]:
    """The documents of a piece of a text file.

    A file as a document has row 0 and its path as id; a byte order mark is left out. A line
    as a document has its physical line number as row and ``<file>:<row>`` as id; its line
    end (LF or CRLF) is left out, lines of nothing but blanks and tabs are skipped.

    Errors: RunError where the file cannot be reached.
    """
    if not piece.file.by_line:
        yield _whole(piece, columns)
        return
    for block in blocks(piece):
        if isinstance(block, Dead):
            yield nothing(columns.schema, [block])
        else:
            yield _lines(block, piece.file.file, columns)


def _whole(piece: Piece, columns: Columns) -> ReadBatch:
    chunks: list[bytes] = []
    size = 0
    dead = None
    try:
        for chunk in stream(piece.file):
            chunks.append(chunk)
            size += len(chunk)
            if size > MAX_DOCUMENT:
                message = f"the file is longer than {MAX_DOCUMENT} bytes"
                dead = Dead("too_long", message, 0, 0, b"".join(chunks)[:RAW_BYTES])
                break
    except Broken as error:
        dead = Dead(error.reason, error.message, 0, size, b"".join(chunks)[:RAW_BYTES])
    if dead is not None:
        return nothing(columns.schema, [dead])
    text, replaced = decoded(b"".join(chunks).removeprefix(BOM))
    return _batch([text], np.zeros(1, np.int64), piece.file.file, columns, int(replaced), True)


def _lines(block: Block, file: str, columns: Columns) -> ReadBatch:
    replaced = 0
    try:
        lines = block.data.decode().split("\n")
    except UnicodeDecodeError:
        pairs = [decoded(line) for line in block.data.split(b"\n")]
        lines = [line for line, _ in pairs]
        replaced = sum(changed for _, changed in pairs)
    texts: list[str] = []
    rows: list[int] = []
    for row, line in enumerate(lines, block.row):
        if line.strip(" \t\r"):
            texts.append(line.removesuffix("\r"))
            rows.append(row)
    if not texts:
        return nothing(columns.schema, [])
    return _batch(texts, np.array(rows, np.int64), file, columns, replaced)


def _batch(
    texts: list[str],
    rows: npt.NDArray[np.int64],
    file: str,
    columns: Columns,
    replaced: int,
    whole: bool = False,
) -> ReadBatch:
    size = len(texts)
    strings = pa.large_string()
    return ReadBatch(
        pa.RecordBatch.from_arrays(
            [
                pa.array(rows, pa.int64()),
                pa.array([file], strings) if whole else own_ids(file, rows),
                pa.nulls(size, strings),
                pa.array(texts, strings),
            ],
            schema=TABLE,
        ),
        pa.RecordBatch.from_arrays(
            [pa.nulls(size, field.type) for field in columns.schema], schema=columns.schema
        ),
        replaced=replaced,
    )
