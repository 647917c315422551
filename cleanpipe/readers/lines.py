"""Bytes -> blocks of whole lines, for every format where a line is a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cleanpipe.encodings import UTF8
from cleanpipe.readers.batches import MAX_DOCUMENT, RAW_BYTES, Dead
from cleanpipe.readers.files import Broken, stream
from cleanpipe.readers.inputs import Piece

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Block:
    """Consecutive whole lines.

    Attributes:
        data: the lines, each with its newline (the last one of a file may have none).
        row: physical number of the first line.
        offset: its byte offset in the decompressed file.
        lines: how many lines there are.
    """

    data: bytes
    row: int
    offset: int
    lines: int


def blocks(piece: Piece) -> Iterator[Block | Dead]:
    """The lines that start in a piece, in blocks of about 1 MiB or one line.

    A line over 128 MiB is a dead record ``too_long`` in its place. Where the file breaks
    off, the last item is a dead record; what stood of its broken line is its raw content.
    A byte order mark of UTF-8 at the start of the file is left out.

    Errors: RunError where the file cannot be reached; ValueError for a piece whose first
    row is not known.
    """
    if piece.first_row is None:
        raise ValueError(f"{piece.file.file}: the scan has to give this piece its first row")
    whole = piece.file.compression is not None
    stop = None if whole else piece.stop
    if not whole and piece.start == piece.stop:
        return
    inner = not whole and piece.start > 0
    begin = piece.start - 1 if inner else 0
    offset, row = begin, piece.first_row
    skipping = inner  # up to the first newline, it belongs to the piece before
    dropped = False  # inside a line that is too long
    held: list[bytes] = []
    size = 0
    try:
        for chunk in stream(piece.file, begin):
            if skipping:
                cut = chunk.find(b"\n") + 1
                offset += cut or len(chunk)
                if not cut:
                    continue
                skipping = False
                chunk = chunk[cut:]
            if stop is not None and not size and not dropped and offset >= stop:
                return
            cut = chunk.rfind(b"\n") + 1
            if dropped:
                first = chunk.find(b"\n") + 1
                offset += first or len(chunk)
                if not first:
                    continue
                dropped = False
                row += 1
                chunk, cut = chunk[first:], cut - first
                if stop is not None and offset >= stop:
                    return
            if not cut:
                held.append(chunk)
                size += len(chunk)
                if size > MAX_DOCUMENT:
                    yield _too_long(held, row, offset)
                    offset += size
                    held, size, dropped = [], 0, True
                continue
            data = b"".join((*held, chunk[:cut])) if held else chunk[:cut]
            held = [chunk[cut:]] if cut < len(chunk) else []
            size = len(chunk) - cut
            done = stop is not None and offset + len(data) >= stop
            if done and stop is not None:
                data = data[: data.find(b"\n", stop - 1 - offset) + 1]
            block = Block(data, row, offset, data.count(b"\n"))
            yield _without_mark(block, piece)
            if done:
                return
            row += block.lines
            offset += len(data)
    except Broken as error:
        raw = b"".join(held)[:RAW_BYTES]
        yield Dead(error.reason, error.message, row, offset + size, raw)
        return
    if held:
        yield _without_mark(Block(b"".join(held), row, offset, 1), piece)


def _too_long(held: list[bytes], row: int, offset: int) -> Dead:
    raw = b"".join(held[: RAW_BYTES // len(held[0]) + 2])[:RAW_BYTES]
    return Dead("too_long", f"the line is longer than {MAX_DOCUMENT} bytes", row, offset, raw)


def _without_mark(block: Block, piece: Piece) -> Block:
    if block.offset == 0 and piece.file.encoding == UTF8 and block.data.startswith(BOM):
        return Block(block.data[len(BOM) :], block.row, len(BOM), block.lines)
    return block


def count(piece: Piece) -> int:
    """Lines that start in a piece of an uncompressed file: newlines of [start-1, stop-1),
    and the file's first line."""
    first = 1 if piece.start == 0 and piece.file.size > 0 else 0
    left = piece.stop - 1 - max(0, piece.start - 1)
    total = 0
    for chunk in stream(piece.file, max(0, piece.start - 1)) if left > 0 else ():
        total += chunk.count(b"\n", 0, left)
        left -= len(chunk)
        if left <= 0:
            break
    return first + total


def is_blank(line: bytes) -> bool:
    """Whether a line has nothing but JSON's white space."""
    return not line.strip(b" \t\r\n")
