"""Plain text: a file or a line is a document."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cleanpipe.columns import Columns
from cleanpipe.encodings import UTF8, why_not
from cleanpipe.encodings import decoded as decoded_from
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
            yield _lines(block, piece, columns)


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
    data, codec, replaced = b"".join(chunks), piece.file.encoding, False
    try:
        if codec == UTF8:
            text, replaced = decoded(data.removeprefix(BOM))
        else:
            text = decoded_from(data, codec, at_start=True)
    except UnicodeError as error:
        dead = Dead("undecodable", why_not(error, codec), 0, 0, data[:RAW_BYTES])
        return nothing(columns.schema, [dead])
    return _batch([text], np.zeros(1, np.int64), piece.file.file, columns, int(replaced), True)


def _lines(block: Block, piece: Piece, columns: Columns) -> ReadBatch:
    replaced, codec = 0, piece.file.encoding
    dead: list[Dead] = []
    lines: list[str]
    try:
        lines = decoded_from(block.data, codec, codec != UTF8 and block.offset == 0).split("\n")
    except UnicodeError:
        if codec == UTF8:
            pairs = [decoded(line) for line in block.data.split(b"\n")]
            lines = [line for line, _ in pairs]
            replaced = sum(changed for _, changed in pairs)
        else:
            lines, dead = _one_by_one(block, codec)
    texts: list[str] = []
    rows: list[int] = []
    for row, line in enumerate(lines, block.row):
        if line.strip(" \t\r"):
            texts.append(line.removesuffix("\r"))
            rows.append(row)
    if not texts:
        return nothing(columns.schema, dead)
    batch = _batch(texts, np.array(rows, np.int64), piece.file.file, columns, replaced)
    batch.dead = dead
    return batch


def _one_by_one(block: Block, codec: str) -> tuple[list[str], list[Dead]]:
    """The lines, blank where they cannot be decoded, and these."""
    lines: list[str] = []
    dead: list[Dead] = []
    offset = block.offset
    for row, line in enumerate(block.data.split(b"\n"), block.row):
        try:
            lines.append(decoded_from(line, codec, at_start=offset == 0))
        except UnicodeError as error:
            lines.append("")
            message = why_not(error, codec)
            dead.append(Dead("undecodable", message, row, offset, line[:RAW_BYTES]))
        offset += len(line) + 1
    return lines, dead


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
