"""Readers: one piece of a file -> batches of documents, and what could not be read."""

from __future__ import annotations

from collections.abc import Iterator

from cleanpipe.columns import Columns
from cleanpipe.readers import arrow, jsonl, parquet, text
from cleanpipe.readers.batches import Dead, ReadBatch, cut
from cleanpipe.readers.inputs import Piece
from cleanpipe.sources import Source

_READERS = {
    "jsonl": jsonl.read,
    "parquet": parquet.read,
    "arrow": arrow.read,
    "text": text.read,
}


def read(piece: Piece, source: Source, columns: Columns, batch_bytes: int) -> Iterator[ReadBatch]:
    """Read one piece, in file order and bounded memory.

    Rows are 0-based physical lines (blank lines count, but are no documents), Parquet rows or
    Arrow rows. A null or missing text is dead (``no_text``), an empty one is a document. A
    null or missing id becomes ``<file>:<row>``, an integer its decimal digits, another value
    its JSON text.

    Args:
        piece: what to read; its ``first_row`` must be known.
        source: the source it belongs to.
        columns: the output's columns.
        batch_bytes: most bytes of text in a batch (a longer document is one by itself);
            the documents themselves do not depend on it.

    Errors: RunError where the file cannot be reached; whatever is wrong with its content
    is a dead record.
    """
    if piece.file.source != source.name:
        raise ValueError(f"{piece.file.file} belongs to {piece.file.source}, not {source.name}")
    return cut(_READERS[piece.file.format](piece, columns), batch_bytes)


__all__ = ["Dead", "ReadBatch", "read"]
