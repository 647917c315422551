"""What a reader is given: a file, and the part of it to read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from cleanpipe.encodings import UTF8
from cleanpipe.sources import Format

Compression: TypeAlias = Literal["gzip", "zstd"] | None


@dataclass(frozen=True)
class InputFile:
    """One file in source order.

    Attributes:
        index: 0-based place in source order.
        source: name of its source.
        file: the path as the pattern yields it (relative ones stay relative to the
            source's base): part of keys and of the plan.
        location: where to open it, an absolute path or a URL: never part of the plan.
        format: how to read it.
        compression: of the whole file; None also for Parquet and Arrow.
        size: bytes on disk.
        stamp: changes when the file changes: mtime in ns, ETag; "" if unknown.
        by_line: whether each line is a row (JSON lines, text with ``document: line``).
        encoding: of JSON lines and plain text, by Python's name of the codec.
    """

    index: int
    source: str
    file: str
    location: str
    format: Format
    compression: Compression
    size: int
    stamp: str
    by_line: bool = False
    encoding: str = UTF8


@dataclass(frozen=True)
class Piece:
    """One contiguous part of one file.

    Attributes:
        file: the file.
        start, stop: byte range for plain line formats (the lines that start in it), row
            groups for Parquet, record batches for Arrow files, 0 and 1 for whole files.
        first_row: row number of its first row; None until the scan step knows it.
        rows: how many rows, where known without reading (Parquet), else None.
        last: whether it reaches the end of the file.
    """

    file: InputFile
    start: int
    stop: int
    first_row: int | None
    rows: int | None = None
    last: bool = True
