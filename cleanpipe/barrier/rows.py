"""The rows that travel between the tasks of a barrier, and the files they travel in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cleanpipe import ipc
from cleanpipe.batch import TEXT
from cleanpipe.job import Job
from cleanpipe.scratch import bases_name
from cleanpipe.spec import Step
from cleanpipe.stage import Barrier, Rows
from cleanpipe.store import Store

NAMES = pa.schema([("file", TEXT), ("row", pa.int64()), ("id", TEXT)])
NUMBERED = pa.schema([*NAMES, ("document", pa.int64())])
"""Survivors in ``index/``: ``document`` is the place in the shard."""
PAIRS = pa.schema([("later", pa.int64()), ("earlier", pa.int64())])
VERDICTS = pa.schema([*PAIRS, ("similarity", pa.float64()), ("rule", pa.uint16())])
EDGES = pa.schema([*VERDICTS, ("same", pa.bool_())])
_BASES = pa.schema([("shard", pa.int64()), ("first", pa.int64())])


def barrier_stage(step: Step) -> Barrier:
    stage = step.stages[0]
    assert isinstance(stage, Barrier)
    return stage


def barrier_stages(job: Job, phase: int) -> list[Barrier]:
    return [barrier_stage(step) for step in job.plan.phases[phase].barrier]


def ordered_by(job: Job, phase: int) -> Barrier:
    """The stage whose order is that of the whole barrier."""
    stages = barrier_stages(job, phase)
    return next((stage for stage in stages if stage.ordering()), stages[0])


class Order:
    """Canonical order as columns: the keys of :meth:`cleanpipe.stage.Barrier.order`, carried
    beside a document's number.

    Attributes:
        keys: columns of a row's document; in a row of two, of the later.
        other: columns of the earlier one.
    """

    def __init__(self, size: int) -> None:
        self.keys = [f"order{key}" for key in range(size)]
        self.other = [f"earlier_order{key}" for key in range(size)]

    @classmethod
    def of(cls, job: Job, phase: int) -> Order:
        return cls(len(ordered_by(job, phase).ordering()))

    def one(self, schema: pa.Schema) -> pa.Schema:
        """The columns of rows of one document."""
        return pa.schema([*schema, *((name, pa.uint64()) for name in self.keys)])

    def two(self, schema: pa.Schema) -> pa.Schema:
        """The columns of rows of a later and an earlier one."""
        return pa.schema([*self.one(schema), *((name, pa.uint64()) for name in self.other)])

    def sorted(self, table: pa.Table, first: Sequence[str], number: str, *more: str) -> Rows:
        """The rows sorted by columns ``first``, then by the canonical order of the document whose
        number is in ``number``, then by ``more``."""
        lead, *rest = (column(table, name) for name in (*first, *self.keys, number, *more))
        rows = np.argsort(lead)
        # Most rows differ in the first column: only the others are sorted by all of them.
        new = begins(lead[rows])
        tied = ~new
        tied[:-1] |= ~new[1:]
        places = np.flatnonzero(tied)
        some = rows[places]
        rows[places] = some[np.lexsort([values[some] for values in (*rest[::-1], lead)])]
        return rows

    def edges(self, table: pa.Table) -> Rows:
        """Edges sorted by the later document, then the earlier one, then the rule."""
        return self.sorted(table, (), "later", *self.other, "earlier", "rule")


def column(table: pa.Table | pa.RecordBatch, name: str) -> npt.NDArray[np.generic]:
    values: npt.NDArray[np.generic] = table.column(name).to_numpy(zero_copy_only=False)
    return values


def begins(*columns: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    """Flags, shape (n,): rows that differ from the one before in any of the columns."""
    size = len(columns[0])
    found = np.zeros(size, dtype=np.bool_)
    found[:1] = True
    for values in columns:
        found[1:] |= values[1:] != values[:-1]
    return found


def run_parts(store: Store, name: str, readers: int, reader: int) -> Iterator[pa.RecordBatch]:
    """What a file with runs holds for one of its readers: a batch for each run."""
    file = ipc.open_file(store, name)
    for run in range(file.num_record_batches // readers):
        part = file.get_batch(run * readers + reader)
        if part.num_rows:
            yield part


def windows(
    parts: Sequence[pa.RecordBatch], key: str, rows: int, partitions: int, partition: int
) -> Iterator[list[pa.RecordBatch]]:
    """Cut one partition into windows of its keys.

    Args:
        parts: rows of the partition, each part sorted by ``key`` (uint64).
        rows: of how many rows together a window is, if keys are evenly spread.

    Yields:
        Of each part the rows whose key is in the window; all rows of a key are in one window.
    """
    keys = [column(part, key) for part in parts]
    number = 1 + sum(map(len, keys)) // rows
    width = 2**64 // partitions
    for window in range(number):
        low = width * partition + width * window // number
        high = width * partition + width * (window + 1) // number
        last = window + 1 == number  # what rounding left over is in it
        found = []
        for part, values in zip(parts, keys, strict=True):
            begin = int(np.searchsorted(values, np.uint64(low))) if window else 0
            end = len(values) if last else int(np.searchsorted(values, np.uint64(high)))
            found.append(part.slice(begin, end - begin))
        yield found


def partition_borders(partitions: int) -> npt.NDArray[np.uint64]:
    """First key of every partition but the first."""
    width = 2**64 // partitions
    return np.array([width * index for index in range(1, partitions)], dtype=np.uint64)


def write_run(
    writer: pa.RecordBatchFileWriter, table: pa.Table, cuts: npt.NDArray[np.int64]
) -> None:
    """Write one run: the rows before, between and behind the cuts, a batch for each reader."""
    table = table.combine_chunks()
    for start, end in zip((0, *cuts.tolist()), (*cuts.tolist(), len(table)), strict=True):
        parts = table.slice(start, end - start).to_batches()
        writer.write_batch(parts[0] if parts else empty(table.schema))


def empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema)


@dataclass(frozen=True)
class Bases:
    """The numbers of all documents, those of earlier runs first.

    The parts of earlier runs are shards before the first: with two of them, shards count from -2.

    Attributes:
        first: int64, shape (shards + 1,): number of the first document of every shard, and at the
            end how many documents there are.
        earlier: how many of the shards are parts of earlier runs.
    """

    first: Rows
    earlier: int

    @property
    def shards(self) -> range:
        return range(-self.earlier, len(self.first) - 1 - self.earlier)

    @property
    def documents(self) -> int:
        return int(self.first[-1])

    @property
    def own(self) -> int:
        """Number of the first document that is not an earlier run's."""
        return int(self.first[self.earlier])

    def place(self, shard: int) -> int:
        """Which of :attr:`shards` it is."""
        return shard + self.earlier

    def of(self, shard: int) -> tuple[int, int]:
        """Numbers of a shard's first document, and of the one behind its last."""
        first, end = self.first[self.place(shard) :][:2].tolist()
        return first, end

    def shard_of(self, numbers: Rows) -> Rows:
        return np.searchsorted(self.first, numbers, side="right") - 1 - self.earlier


def save_bases(job: Job, phase: int, sizes: Sequence[int], earlier: Sequence[int] = ()) -> Bases:
    """Keep the numbers of the documents of parts of earlier runs and of shards, given how many
    each has."""
    first = np.concatenate([[0], np.cumsum([*earlier, *sizes])]).astype(np.int64)
    shards = np.arange(len(first)) - len(earlier)
    with ipc.create(job.scratch, bases_name(phase), _BASES) as writer:
        writer.write_batch(pa.record_batch([pa.array(shards), pa.array(first)], schema=_BASES))
    return Bases(first, len(earlier))


def load_bases(store: Store, phase: int) -> Bases:
    (batch,) = ipc.batches(store, bases_name(phase))
    return Bases(batch.column("first").to_numpy(), -batch.column("shard")[0].as_py())
