"""Ordinary texts, whose phrases say nothing about a test item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from cleanpipe.errors import ConfigError
from cleanpipe.parameters import LocalPath, matched
from cleanpipe.readers import read
from cleanpipe.schema import output_columns
from cleanpipe.shards import discover, split
from cleanpipe.sources import Source

_BYTES = 8 * 2**20


def reference_files(patterns: Iterable[LocalPath]) -> list[LocalPath]:
    """The files of a reference sample.

    Errors: ConfigError where a pattern names none.
    """
    files, faults = matched(patterns)
    if faults:
        raise ConfigError("\n".join(faults))
    return files


def reference_texts(files: Sequence[str]) -> Iterator[pa.Array]:
    """The texts of files as a source of a pipeline has them: the column ``text``, or plain text.

    Errors: ConfigError for a file without texts; RunError where one cannot be read.
    """
    source = Source("reference", tuple(files))
    found = discover((source,))
    columns = output_columns((source,), found)
    for shard in split(found, _BYTES):
        for piece in shard.pieces:
            # Rows are of no matter here, so none is counted.
            for part in read(replace(piece, first_row=0), source, columns, _BYTES):
                yield part.table.column("text")
