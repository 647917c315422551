"""Output files whose bytes depend on their rows alone, never on how rows came in batches."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import IO, Protocol, Self

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from cleanpipe.store import Store
from cleanpipe.weights import table_bytes

ROW_GROUP_BYTES = 32 * 2**20
ROW_GROUP_ROWS = 100_000
_ROW_COST = 64
"""What a row counts beside its text, bytes, when row groups are cut."""


class _Format(Protocol):
    def write(self, table: pa.Table) -> None: ...

    def close(self) -> None: ...


class _Parquet:
    suffix = "parquet"

    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        # A dictionary for texts would hold every text of the row group once more.
        leaves = [path for column in schema for path in _leaves(column, column.name)]
        plain = [path for path in leaves if path not in ("id", "text", "text_hash")]
        self._writer = pq.ParquetWriter(
            file,
            schema,
            compression="zstd",
            compression_level=3,
            use_dictionary=plain or False,
            write_page_checksum=True,
        )

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table, row_group_size=max(1, len(table)))

    def close(self) -> None:
        self._writer.close()


def _leaves(column: pa.Field, path: str) -> Iterator[str]:
    """The Parquet paths of a column's values."""
    if pa.types.is_struct(column.type):
        for inner in column.type:
            yield from _leaves(inner, f"{path}.{inner.name}")
    elif pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        yield from _leaves(column.type.value_field, f"{path}.list.element")
    else:
        yield path


class _JsonLines:
    """One JSON object a row. Dates, times and decimals become texts, as Arrow writes them."""

    suffix = "jsonl"

    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        self._file = file
        self._encoder = msgspec.json.Encoder()

    def write(self, table: pa.Table) -> None:
        columns = [
            column.cast(pa.large_string()) if _as_text(column.type) else column
            for column in table.columns
        ]
        rows = pa.table(columns, names=table.column_names).to_pylist()
        self._file.write(self._encoder.encode_lines(rows))

    def close(self) -> None:
        pass


FORMATS: dict[str, type[_Parquet | _JsonLines]] = {"parquet": _Parquet, "jsonl": _JsonLines}


def _as_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_temporal(kind) or pa.types.is_decimal(kind))


def _is_json(kind: pa.DataType) -> bool:
    types = pa.types
    if types.is_struct(kind):
        return all(_is_json(field.type) for field in kind)
    if types.is_list(kind) or types.is_large_list(kind):
        return _is_json(kind.value_type)
    plain = (types.is_null, types.is_boolean, types.is_integer, types.is_floating)
    return any(test(kind) for test in plain) or types.is_string(kind) or types.is_large_string(kind)


def unwritable(schema: pa.Schema, format: str) -> list[str]:
    """Columns that a format cannot hold, a sentence each."""
    found: list[str] = []
    if format == "none":
        return found
    for field in schema:
        if format == "jsonl":
            fine = _is_json(field.type) or _as_text(field.type)
            remedy = "write format: parquet"
        else:
            try:
                one = pa.schema([field])
                pq.ParquetWriter(io.BytesIO(), one).write_table(one.empty_table())
                fine = True
            except (pa.ArrowException, NotImplementedError):
                fine = False
            remedy = "leave it out of the input"
        if not fine:
            found.append(
                f'column "{field.name}" is {field.type}, which {format} cannot hold: {remedy}'
            )
    return found


class PartWriter:
    """Writes the rows of one shard to one file, or to several of a bounded size.

    Args:
        store: the output folder.
        stem: the name without its ending, such as ``dropped/part-00012``.
        schema: of every table given.
        format: ``parquet`` (default) or ``jsonl``.
        file_size: None (default) for one file ``<stem>.<ending>``; else ``<stem>-000``,
            ``-001``, ..., each closed once it has this many bytes.

    Attributes:
        files: the names written, in order; complete after the block ends.
    """

    def __init__(
        self,
        store: Store,
        stem: str,
        schema: pa.Schema,
        format: str = "parquet",
        file_size: int | None = None,
    ) -> None:
        self.files: list[str] = []
        self._store, self._stem, self._schema = store, stem, schema
        self._format, self._file_size = FORMATS[format], file_size
        self._group_bytes = min(ROW_GROUP_BYTES, file_size or ROW_GROUP_BYTES)
        self._pending: list[pa.Table] = []
        self._costs: list[npt.NDArray[np.int64]] = []
        self._cost = 0
        self._rows = 0
        self._stack = ExitStack()
        self._file: IO[bytes] | None = None
        self._out: _Format | None = None

    def __enter__(self) -> Self:
        return self

    def write(self, table: pa.Table) -> None:
        """Add rows."""
        if not len(table):
            return
        costs = _ROW_COST + table_bytes(table)
        self._pending.append(table)
        self._costs.append(costs)
        self._cost += int(costs.sum())
        self._rows += len(table)
        while self._cost >= self._group_bytes or self._rows >= ROW_GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        """Write one row group: rows up to the first that reaches the limit."""
        table = pa.concat_tables(self._pending)
        costs = np.concatenate(self._costs) if self._costs else np.zeros(0, dtype=np.int64)
        cut = int(np.searchsorted(np.cumsum(costs), self._group_bytes)) + 1
        cut = min(cut, ROW_GROUP_ROWS, len(table))
        # Page borders follow chunk borders, so a group is one chunk, and not a view of one.
        self._group(table.slice(0, cut))
        rest = table.slice(cut)
        self._pending, self._costs = [rest], [costs[cut:]]
        self._cost, self._rows = int(costs[cut:].sum()), len(rest)

    def _group(self, table: pa.Table) -> None:
        if self._out is None:
            self._open()
        assert self._out is not None and self._file is not None
        if len(table):
            whole = table.take(pa.array(np.arange(len(table)))).combine_chunks()
            self._out.write(whole.cast(self._schema))
        if self._file_size is not None and self._file.tell() >= self._file_size:
            self._close()

    def _open(self) -> None:
        number = "" if self._file_size is None else f"-{len(self.files):03d}"
        name = f"{self._stem}{number}.{self._format.suffix}"
        self._file = self._stack.enter_context(self._store.create(name))
        self._out = self._format(self._file, self._schema)
        self.files.append(name)

    def _close(self) -> None:
        assert self._out is not None
        self._out.close()
        self._out = self._file = None
        self._stack.close()
        self._stack = ExitStack()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            if self._out is not None:
                with suppress(Exception):  # else Arrow tries, and complains, when it is collected
                    self._out.close()
            self._stack.__exit__(kind, error, trace)
            return
        while self._rows:
            self._flush()
        if not self.files:
            self._group(self._schema.empty_table())
        if self._out is not None:
            self._close()
