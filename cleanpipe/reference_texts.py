"""Ordinary texts, whose phrases say nothing about a test item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from cleanpipe.columns import Columns
from cleanpipe.errors import ConfigError
from cleanpipe.parameters import LocalPath, matched
from cleanpipe.readers import read
from cleanpipe.readers.batches import ReadBatch
from cleanpipe.readers.inputs import InputFile
from cleanpipe.schema import text_columns
from cleanpipe.shards import discover, split
from cleanpipe.sources import Source

_BYTES = 8 * 2**20


def reference_files(patterns: Iterable[LocalPath]) -> list[LocalPath]:
    """The files of a reference sample.

    Errors: ConfigError where a pattern names none, or one that has no texts.
    """
    files, faults = matched(patterns)
    if faults:
        raise ConfigError("\n".join(faults))
    if files:
        try:
            _opened(files)
        except ConfigError as error:
            # What follows tells how to name the column of a source; this is none.
            said = dict.fromkeys(fault.message.partition(";")[0] for fault in error.faults)
            reasons = ", ".join(said) or str(error)
            raise ConfigError(
                f"expected JSON lines or Parquet with a column `text`, or text: {reasons}"
            ) from None
    return files


def reference_texts(files: Sequence[str]) -> Iterator[pa.Array]:
    """The texts of files as a source of a pipeline has them: the column ``text``, or plain text;
    records that cannot be read are left out.

    Errors: ConfigError for a file that can have none, and where there is none in any; RunError
    where one cannot be read.
    """
    some = False
    for _, part in parts_of(*_opened(files)):
        some |= len(part.table) > 0
        yield part.table.column("text")
    if not some:
        raise ConfigError("reference: no file has a text")


def parts_of(
    source: Source, files: Sequence[InputFile], columns: Columns
) -> Iterator[tuple[InputFile, ReadBatch]]:
    """All records of files in parts of at most 8 MiB, and the file of each."""
    for shard in split(files, _BYTES):
        for piece in shard.pieces:
            # Rows are of no matter here, so none is counted.
            for part in read(replace(piece, first_row=0), source, columns, _BYTES):
                yield piece.file, part


def _opened(files: Sequence[str]) -> tuple[Source, tuple[InputFile, ...], Columns]:
    source = Source("reference", tuple(files))
    found = discover((source,))
    return source, found, text_columns(source, found)
