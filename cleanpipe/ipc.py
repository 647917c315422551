"""Intermediates as Arrow IPC files: written in batches, read by batch, mapped where they can be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.ipc

from cleanpipe.store import Store


@contextmanager
def create(
    store: Store, name: str, schema: pa.Schema, *, compressed: bool = False
) -> Iterator[pa.RecordBatchFileWriter]:
    """A file to write batches to; it gets its name when the block ends well.

    Args:
        compressed: lz4 (for texts); not compressed (default), a file can be mapped.
    """
    options = pa.ipc.IpcWriteOptions(compression="lz4" if compressed else None)
    with store.create(name) as file, pa.ipc.new_file(file, schema, options=options) as writer:
        yield writer


def open_file(store: Store, name: str) -> pa.RecordBatchFileReader:
    """A file to read batches from, memory-mapped where it is local."""
    if store.local:
        return pa.ipc.open_file(pa.memory_map(store.path(name)))
    with store.open(name) as file:
        return pa.ipc.open_file(pa.py_buffer(file.read()))


def batches(store: Store, name: str) -> Iterator[pa.RecordBatch]:
    """The batches of a file, one at a time."""
    reader = open_file(store, name)
    for index in range(reader.num_record_batches):
        yield reader.get_batch(index)
