"""A batch of documents on its way through the stages, and the tables it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import repeat
from operator import attrgetter
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from cleanpipe.bounds import Flags, Numbers
from cleanpipe.references import Kind
from cleanpipe.stage import MATCHED_BY, Repeats

TEXT = pa.large_string()
HASH = pa.binary(16)
_KINDS: Mapping[Kind, pa.DataType] = {"number": pa.float64(), "label": TEXT, "hash": HASH}

Measure: TypeAlias = Numbers | pa.Array

DROPPED = pa.schema(
    [
        ("id", TEXT),
        ("file", TEXT),
        ("row", pa.int64()),
        ("source", TEXT),
        ("language", TEXT),
        ("url", TEXT),
        ("stage", TEXT),
        ("rule", TEXT),
        ("measure", TEXT),
        ("value", pa.float64()),
        ("bound", TEXT),
        ("also_failed", pa.list_(TEXT)),
        ("survivor_id", TEXT),
        ("survivor_file", TEXT),
        ("survivor_row", pa.int64()),
        ("survivor_run", TEXT),
        ("similarity", pa.float64()),
        ("test_set", TEXT),
        ("test_item", TEXT),
        ("match", TEXT),
        ("match_start", pa.int64()),
        ("match_end", pa.int64()),
        ("test_score", pa.float64()),
        ("test_evidence", TEXT),
        ("match_entry", TEXT),
    ]
)
DEAD = pa.schema(
    [
        ("reason", TEXT),
        ("message", TEXT),
        ("source", TEXT),
        ("file", TEXT),
        ("row", pa.int64()),
        ("offset", pa.int64()),
        ("raw", pa.large_binary()),
    ]
)
EDITS = pa.schema(
    [
        ("id", TEXT),
        ("file", TEXT),
        ("row", pa.int64()),
        ("stage", TEXT),
        ("rule", TEXT),
        ("measure", TEXT),
        ("value", pa.float64()),
        ("bound", TEXT),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("replacement", TEXT),
        ("text", TEXT),
        ("match", TEXT),
    ]
)
MATCHES = pa.schema(
    [
        ("id", TEXT),
        ("file", TEXT),
        ("row", pa.int64()),
        ("source", TEXT),
        ("url", TEXT),
        ("stage", TEXT),
        *MATCHED_BY,
    ]
)
LINEAGE = pa.struct([("source", TEXT), ("file", TEXT), ("row", pa.int64()), ("language", TEXT)])
KEPT_LABELS = ("test_set", "bucket")
"""Labels that ``kept/`` has too, where a stage takes them: what is chosen by after cleaning."""
_REASON = pa.struct([column for column in DROPPED if column.name not in ("id", "file", "row")])


@dataclass
class Drop:
    """Why one document is dropped: what its drop record will say."""

    stage: str
    rule: str
    measure: str | None = None
    value: float | None = None
    bound: str | None = None
    also_failed: list[str] = field(default_factory=list)
    survivor_id: str | None = None
    survivor_file: str | None = None
    survivor_row: int | None = None
    survivor_run: str | None = None
    similarity: float | None = None
    test_set: str | None = None
    test_item: str | None = None
    match: str | None = None
    match_start: int | None = None
    match_end: int | None = None
    test_score: float | None = None
    test_evidence: str | None = None
    match_entry: str | None = None


class Records(NamedTuple):
    """What stages record of documents beside verdicts, in the order of the documents.

    Attributes:
        edits: rows for ``edits/``. Default: none.
        matches: rows for ``matches/``. Default: none.
    """

    edits: pa.Table = EDITS.empty_table()
    matches: pa.Table = MATCHES.empty_table()


class Batch:
    """n documents of one shard, in order.

    Attributes:
        file, id, url, source: large_string, shape (n,).
        row: int64, shape (n,).
        text: large_string, shape (n,): the text as it is now.
        columns: the input's other columns, n rows, as the output has them.
        measures: full name -> what was taken so far.
        alive: shape (n,): not dropped so far.
        drops: the reason for every document that is not alive, by its place.
        bytes_in, tokens_in: int64, shape (n,): size of the text as it was read.
        repeats: what the barrier before found of a corpus rewriter's passages, else None.
    """

    def __init__(
        self,
        *,
        file: pa.Array,
        row: pa.Array,
        id: pa.Array,
        url: pa.Array,
        source: pa.Array,
        text: pa.Array,
        columns: pa.RecordBatch,
        measures: dict[str, Measure],
        bytes_in: npt.NDArray[np.int64],
        tokens_in: npt.NDArray[np.int64],
        text_hash: pa.Array | None = None,
    ) -> None:
        self.file, self.row, self.id, self.url, self.source = file, row, id, url, source
        self.text = text
        self.columns = columns
        self.measures = measures
        self.bytes_in, self.tokens_in = bytes_in, tokens_in
        self.text_hash = text_hashes(text) if text_hash is None else text_hash
        self.alive: Flags = np.ones(len(text), dtype=np.bool_)
        self.drops: dict[int, Drop] = {}
        self.repeats: Repeats | None = None

    def __len__(self) -> int:
        return len(self.text)

    def label(self, name: str, kinds: Mapping[str, Kind]) -> pa.Array | None:
        """The label that the last stage to take it gave, or None where no stage takes it."""
        names = [full for full, kind in kinds.items() if kind == "label"]
        taken = [full for full in names if full.rpartition(".")[2] == name]
        found = [full for full in taken if full in self.measures]
        if not found:  # those that do were for no document of this batch
            return pa.nulls(len(self), TEXT) if taken else None
        value = self.measures[found[-1]]
        for earlier in reversed(found[:-1]):
            value = pc.coalesce(value, self.measures[earlier])
        return value

    def kept(self, language: pa.Array, kinds: Mapping[str, Kind]) -> pa.Table:
        """The rows for ``kept/``."""
        labels = [language, *(self.label(name, kinds) for name in _labels(kinds))]
        lineage = pa.StructArray.from_arrays(
            [self.source, self.file, self.row, *labels], fields=list(_lineage(kinds))
        )
        table = pa.table(
            [self.id, self.text, *self.columns.columns, lineage],
            names=["id", "text", *self.columns.schema.names, "cleanpipe"],
        )
        return table.filter(pa.array(self.alive))

    def dropped(self, language: pa.Array) -> pa.Table:
        """The rows for ``dropped/``."""
        rows = np.flatnonzero(~self.alive)
        index = pa.array(rows, pa.int64())
        made: dict[str, pa.Array] = {
            "id": self.id.take(index),
            "file": self.file.take(index),
            "row": self.row.take(index),
            "source": self.source.take(index),
            "language": language.take(index),
            "url": self.url.take(index),
        }
        drops = [self.drops[row] for row in rows.tolist()]
        for column in DROPPED:
            if column.name not in made:
                values = list(map(attrgetter(column.name), drops))
                made[column.name] = pa.array(values, column.type)
        return pa.table([made[name] for name in DROPPED.names], schema=DROPPED)

    def measured(self, kinds: Mapping[str, Kind]) -> pa.Table:
        """The rows for ``measures/``."""
        made = [self.id, self.file, self.row, self.source, pa.array(self.alive), self.text_hash]
        made.extend(self._stored(name, kind) for name, kind in kinds.items())
        return pa.table(made, schema=measures_schema(kinds))

    def _stored(self, name: str, kind: Kind) -> pa.Array:
        value = self.measures.get(name)
        if value is None:
            return pa.nulls(len(self), _KINDS[kind])
        if isinstance(value, np.ndarray):
            return pa.array(value, pa.float64(), from_pandas=True)  # NaN: not taken
        return value

    def spooled(self, kinds: Mapping[str, Kind]) -> pa.Table:
        """All of it as one table, for the phase after a barrier; dropped texts are left out."""
        alive = pa.array(self.alive)
        reasons = [
            None if drop is None else {**vars(drop), "source": None, "language": None, "url": None}
            for drop in (self.drops.get(row) for row in range(len(self)))
        ]
        made: dict[str, pa.Array] = {
            "file": self.file,
            "row": self.row,
            "id": self.id,
            "url": self.url,
            "source": self.source,
            "text": pc.if_else(alive, self.text, ""),
            "text_hash": self.text_hash,
            "alive": alive,
            "bytes_in": pa.array(self.bytes_in),
            "tokens_in": pa.array(self.tokens_in),
            "drop": pa.array(reasons, _REASON),
            "columns": pa.StructArray.from_arrays(
                self.columns.columns, fields=list(self.columns.schema)
            )
            if self.columns.num_columns
            else pa.array([{}] * len(self), pa.struct([])),
            **{f"measure.{name}": self._stored(name, kind) for name, kind in kinds.items()},
        }
        return pa.table(made)

    @classmethod
    def unspooled(
        cls, table: pa.RecordBatch, kinds: Mapping[str, Kind], schema: pa.Schema
    ) -> Batch:
        """What :meth:`spooled` made, back."""
        columns = table.column("columns")
        measures: dict[str, Measure] = {}
        for name, kind in kinds.items():
            value = table.column(f"measure.{name}")
            measures[name] = value.to_numpy(zero_copy_only=False) if kind == "number" else value
        batch = cls(
            **{name: table.column(name) for name in ("file", "row", "id", "url", "source", "text")},
            columns=pa.RecordBatch.from_arrays(columns.flatten(), schema=schema),
            measures=measures,
            bytes_in=table.column("bytes_in").to_numpy(),
            tokens_in=table.column("tokens_in").to_numpy(),
            text_hash=table.column("text_hash"),
        )
        batch.alive = table.column("alive").to_numpy(zero_copy_only=False).copy()
        rows = np.flatnonzero(~batch.alive)
        reasons = table.column("drop").take(pa.array(rows, pa.int64()))
        fields = [reasons.field(name) for name in Drop.__dataclass_fields__]
        # Most fields are null for all: those need no look at each.
        values = [
            repeat(None) if field.null_count == len(field) else field.to_pylist()
            for field in fields
        ]
        batch.drops = dict(zip(rows.tolist(), map(Drop, *values), strict=False))
        return batch


def measures_schema(kinds: Mapping[str, Kind]) -> pa.Schema:
    """The columns of ``measures/``."""
    return pa.schema(
        [
            ("id", TEXT),
            ("file", TEXT),
            ("row", pa.int64()),
            ("source", TEXT),
            ("kept", pa.bool_()),
            ("text_hash", HASH),
            *((name, _KINDS[kind]) for name, kind in kinds.items()),
        ]
    )


def kept_schema(columns: pa.Schema, kinds: Mapping[str, Kind]) -> pa.Schema:
    """The columns of ``kept/``."""
    return pa.schema([("id", TEXT), ("text", TEXT), *columns, ("cleanpipe", _lineage(kinds))])


def _lineage(kinds: Mapping[str, Kind]) -> pa.DataType:
    """:data:`LINEAGE` and :func:`_labels`."""
    return pa.struct([*LINEAGE, *((name, TEXT) for name in _labels(kinds))])


def _labels(kinds: Mapping[str, Kind]) -> list[str]:
    """Those of :data:`KEPT_LABELS` that a stage takes."""
    taken = {name.rpartition(".")[2] for name, kind in kinds.items() if kind == "label"}
    return [name for name in KEPT_LABELS if name in taken]


def text_views(text: pa.Array) -> list[memoryview]:
    """The UTF-8 bytes of each text, not copied."""
    _, offsets_buffer, data = text.buffers()
    offsets = (
        np.frombuffer(offsets_buffer, dtype=np.int64)[
            text.offset : text.offset + len(text) + 1
        ].tolist()
        if len(text)
        else [0]
    )
    view = memoryview(data) if data is not None else memoryview(b"")
    return [view[start:end] for start, end in zip(offsets, offsets[1:], strict=False)]


def text_hashes(text: pa.Array) -> pa.Array:
    """xxh3-128 of each text's UTF-8 bytes, big-endian, fixed 16-byte binary."""
    return pa.array([xxhash.xxh3_128_digest(view) for view in text_views(text)], HASH)
