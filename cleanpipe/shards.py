"""Sources -> files -> shards: who reads what, a function of the inputs and ``shard_bytes`` only.

Source order is the order of sources as written, then the bytes of the path. A shard never
crosses a source; it is one of

- consecutive row groups of one Parquet file, up to ``shard_bytes`` of their uncompressed size;
- a run of record batches of one Arrow IPC file, proportional to its bytes;
- a byte range of one plain JSON-lines or text file, holding the lines that *start* in it;
- one whole file (compressed, or a document by itself, or an Arrow stream);
- a run of small whole files, together at most ``shard_bytes``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cleanpipe.encodings import BY_LINE, UTF8, codec_name
from cleanpipe.errors import ConfigError, Fault, RunError
from cleanpipe.readers import arrow, lines, parquet
from cleanpipe.readers.files import is_local
from cleanpipe.readers.find import Found, Unusable, expand, kind, state
from cleanpipe.readers.inputs import Compression, InputFile, Piece
from cleanpipe.sources import Format, Source

COMPRESSED_WEIGHT = 4
"""What a byte of a compressed file counts when files are put together: text packs 3-5 fold."""

MAX_PIECES = 4096
"""Most files in one shard, so that a task stays small where files are tiny."""


@dataclass(frozen=True)
class Shard:
    """What one task reads.

    Attributes:
        index: 0-based place in source order.
        pieces: parts of files, in source order, all of one source.
        size: bytes it counts for (compressed files four times theirs).
    """

    index: int
    pieces: tuple[Piece, ...]
    size: int


def discover(sources: Sequence[Source]) -> tuple[InputFile, ...]:
    """Find every file of every source, in source order.

    Files and folders whose names start with ``.`` or ``_`` (``_SUCCESS``, ``_run``) are
    passed over unless a pattern names them. A folder gives the files in it, at any depth,
    that a reader knows (all of them with ``format:``); a pattern must only match such files.

    Errors: ConfigError with every fault at once: a pattern that matches nothing, a file named
    twice, a name that says no format, a folder without readable files, an unreadable file, an
    encoding in which it cannot be read.
    """
    faults: list[Fault] = []
    files: list[InputFile] = []
    owners: dict[str, tuple[str, str]] = {}
    for source in sources:
        place = f"sources.{source.name}.paths"

        def fault(message: str, place: str = place) -> None:
            faults.append(Fault(0, 0, place, message))

        found: list[Found] = []
        for pattern in source.paths:
            try:
                found += expand(pattern, source.base, source.format is not None)
            except Unusable as error:
                fault(str(error))
        unnamed: list[str] = []
        for entry in sorted(found, key=lambda entry: os.fsencode(entry.file)):
            if entry.identity in owners:
                owner, name = owners[entry.identity]
                fault(f"`{entry.file}` is read twice: also as `{name}` of source `{owner}`")
                continue
            owners[entry.identity] = (source.name, entry.file)
            if not _is_unicode(entry.file):
                shown = os.fsencode(entry.file).decode("utf-8", "backslashreplace")
                fault(f"the name `{shown}` is not UTF-8, so no table could name it: rename it")
                continue
            format_, compression = kind(entry.file)
            if compression == "unknown":
                fault(f"`{entry.file}` is compressed in a way no reader knows: use .gz or .zst")
                continue
            format_ = source.format or format_
            if format_ is None:
                unnamed.append(entry.file)
                continue
            packed: Compression = compression if format_ in ("jsonl", "text") else None
            by_line = format_ == "jsonl" or (format_ == "text" and source.document == "line")
            encoding = codec_name(source.encoding) or source.encoding
            misread = _misread(entry.file, format_, by_line, encoding)
            if misread is not None:
                faults.append(Fault(0, 0, f"sources.{source.name}.encoding", misread))
                continue
            files.append(
                InputFile(
                    len(files),
                    source.name,
                    entry.file,
                    entry.location,
                    format_,
                    packed,
                    entry.size,
                    entry.stamp,
                    by_line,
                    encoding,
                )
            )
        if unnamed:
            rest = f" and {len(unnamed) - 3} more" if len(unnamed) > 3 else ""
            names = ", ".join(f"`{name}`" for name in unnamed[:3]) + rest
            fault(
                f"the name says no format: {names}; write format: jsonl, parquet, arrow or text,"
                " or narrow the pattern"
            )
    if faults:
        raise ConfigError(faults)
    return tuple(files)


def _misread(file: str, format_: Format, by_line: bool, encoding: str) -> str | None:
    """Why a file cannot be read in an encoding, or None where it can."""
    if format_ not in ("jsonl", "text"):
        return None if encoding == UTF8 else f"`{file}` is {format_}, which is always UTF-8"
    if not by_line or encoding in BY_LINE:
        return None
    remedy = ", or read each file as one document" if format_ == "text" else ""
    return (
        f"`{file}` has a row a line, and in {encoding} lines cannot be told by their bytes: "
        f"convert it to UTF-8 first{remedy}"
    )


def _is_unicode(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_unchanged(file: InputFile) -> None:
    """Errors: RunError where a file is not what it was when the run began."""
    try:
        now = state(file.location, is_local(file))
    except OSError as error:
        raise RunError(f"{file.location}: cannot be reached any more: {error}") from error
    if now != (file.size, file.stamp):
        raise RunError(
            f"{file.location} changed during the run: it had {file.size} bytes, now it has "
            f"{now[0]}; let it rest, and run again with --fresh"
        )


def split(files: Sequence[InputFile], shard_bytes: int) -> tuple[Shard, ...]:
    """Cut files into shards. Reads the footers of Parquet and Arrow files, nothing else.

    A file whose footer cannot be read becomes one piece; its reader says why. An empty file
    is a piece too: it is accounted for, with no documents.

    Args:
        files: as :func:`discover` gave them.
        shard_bytes: size to aim at, > 0; a row group or a compressed file may exceed it.

    Errors: RunError where a file cannot be reached at all.
    """
    if shard_bytes <= 0:
        raise ValueError(f"expected shard_bytes > 0, got {shard_bytes}")
    shards: list[Shard] = []
    run: list[Piece] = []
    weight = 0

    def close() -> None:
        nonlocal weight
        if run:
            shards.append(Shard(len(shards), tuple(run), weight))
            run.clear()
            weight = 0

    for file in files:
        parts = list(_parts(file, shard_bytes))
        size = sum(part for _, part in parts)
        if run and (
            run[0].file.source != file.source
            or weight + size > shard_bytes
            or len(run) >= MAX_PIECES
        ):
            close()
        if len(parts) == 1 and size < shard_bytes:
            run.append(parts[0][0])
            weight += size
            continue
        close()
        for piece, part in parts:
            shards.append(Shard(len(shards), (piece,), part))
    close()
    return tuple(shards)


def _parts(file: InputFile, shard_bytes: int) -> Iterator[tuple[Piece, int]]:
    """The pieces of one file with the bytes each counts for."""
    if file.format == "parquet":
        yield from _row_groups(file, shard_bytes)
    elif file.format == "arrow":
        batches = arrow.count_batches(file)
        if batches is None:
            yield Piece(file, 0, 1, 0), file.size
        else:
            yield from _evenly(file, batches, max(1, min(-(-file.size // shard_bytes), batches)))
    elif file.compression is not None:
        yield Piece(file, 0, 1, 0), file.size * COMPRESSED_WEIGHT
    elif not file.by_line:
        yield Piece(file, 0, 1, 0), file.size
    else:
        yield from _evenly(file, file.size, max(1, -(-file.size // shard_bytes)))


def _row_groups(file: InputFile, shard_bytes: int) -> Iterator[tuple[Piece, int]]:
    groups = parquet.row_groups(file)
    if not groups:
        yield Piece(file, 0, 0, 0, 0), file.size
        return
    start = first_row = rows = size = 0
    for index, (group_rows, group_size) in enumerate(groups):
        if index > start and size + group_size > shard_bytes:
            yield Piece(file, start, index, first_row, rows, last=False), size
            start, first_row, rows, size = index, first_row + rows, 0, 0
        rows += group_rows
        size += group_size
    yield Piece(file, start, len(groups), first_row, rows), size


def _evenly(file: InputFile, total: int, parts: int) -> Iterator[tuple[Piece, int]]:
    ends = [total * part // parts for part in range(parts + 1)]
    sizes = [file.size * part // parts for part in range(parts + 1)]
    for part in range(parts):
        first_row = 0 if part == 0 else None
        piece = Piece(file, ends[part], ends[part + 1], first_row, last=part == parts - 1)
        yield piece, sizes[part + 1] - sizes[part]


def needs_scan(piece: Piece) -> bool:
    """Whether pieces after this one need its :func:`count_lines` to know their rows."""
    return not piece.last and piece.rows is None


def count_lines(piece: Piece) -> int:
    """Rows that start in a piece: lines (blank ones too), or rows of its record batches.

    Streams, in bounded memory. Errors: RunError where the file cannot be reached.
    """
    if piece.rows is not None:
        return piece.rows
    return arrow.count_rows(piece) if piece.file.format == "arrow" else lines.count(piece)


def with_rows(shards: Sequence[Shard], counts: Mapping[tuple[int, int], int]) -> tuple[Shard, ...]:
    """Give every piece its first row.

    Args:
        shards: as :func:`split` gave them.
        counts: :func:`count_lines` of each piece that :func:`needs_scan`, by (file's index,
            piece's start).

    Errors: KeyError where a count is missing.
    """
    following: dict[int, int] = {}
    done: list[Shard] = []
    for shard in shards:
        pieces = []
        for piece in shard.pieces:
            index = piece.file.index
            first = following.get(index, 0) if piece.first_row is None else piece.first_row
            if needs_scan(piece):
                following[index] = first + counts[index, piece.start]
            pieces.append(replace(piece, first_row=first))
        done.append(replace(shard, pieces=tuple(pieces)))
    return tuple(done)


__all__ = [
    "InputFile",
    "Piece",
    "Shard",
    "count_lines",
    "discover",
    "needs_scan",
    "split",
    "with_rows",
]
