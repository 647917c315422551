"""Keeps what the stages of a barrier want of each document."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cleanpipe import ipc
from cleanpipe.barrier.rows import (
    Order,
    barrier_stage,
    begins,
    column,
    ordered_by,
    partition_borders,
    write_run,
)
from cleanpipe.batch import Batch
from cleanpipe.job import Job
from cleanpipe.phase import batch_units, blamed
from cleanpipe.scratch import payload_name, sketch_name
from cleanpipe.spec import Step
from cleanpipe.stage import Rows
from cleanpipe.stats import Stats
from cleanpipe.units import Units

KIND = ("bucket", "fingerprint", "compare")
BUCKETS = pa.schema(
    [
        ("document", pa.int64()),
        ("bucket", pa.uint64()),
        ("fingerprint", pa.uint64()),
        ("compare", pa.bool_()),
    ]
)
RUN_ROWS = 2**22
"""Bucket rows that a shard collects before it writes a run of them: some 150 MB."""


class Buckets:
    """Writes the bucket rows of one shard for one barrier stage, sorted by partition.

    Args:
        stack: closes the file.
    """

    def __init__(self, job: Job, phase: int, place: int, shard: int, stack: ExitStack) -> None:
        self._job, self._order = job, Order.of(job, phase)
        self._schema = self._order.one(BUCKETS)
        self.name = sketch_name(phase, place, shard)
        self._file = stack.enter_context(ipc.create(job.scratch, self.name, self._schema))
        self._tables: list[pa.Table] = []
        self._rows = 0

    def add(
        self, documents: Rows, buckets: pa.Table, order: Sequence[npt.NDArray[np.uint64]] = ()
    ) -> None:
        """Add the rows of n documents.

        Args:
            documents: their places in the shard, shape (n,), ascending.
            buckets: as in a sketch; ``unit`` is an index among the n.
            order: their keys, shape (n,) each. Default: they come before all that have any.
        """
        units = column(buckets, "unit")
        keys = order or [np.zeros(len(documents), dtype=np.uint64) for _ in self._order.keys]
        found = [pa.array(documents[units], pa.int64())]
        found += [buckets.column(name) for name in KIND]
        found += [pa.array(key[units], pa.uint64()) for key in keys]
        self._tables.append(pa.table(found, schema=self._schema))
        self._rows += len(units)
        if self._rows >= RUN_ROWS:
            self._flush()

    def _flush(self) -> None:
        table = pa.concat_tables(self._tables).combine_chunks()
        self._tables, self._rows = [], 0
        table = table.take(self._order.sorted(table, KIND, "document"))
        # Of the same documents only one is compared.
        new = begins(*(column(table, name) for name in KIND))
        table = table.filter(pa.array(new | ~column(table, "compare").astype(np.bool_)))
        cuts = np.searchsorted(column(table, "bucket"), partition_borders(self._job.partitions))
        write_run(self._file, table, cuts)

    def finish(self) -> None:
        """Write what is left."""
        if self._tables:
            self._flush()


class Sketches:
    """Collects the sketches of one shard for one barrier stage.

    Args:
        stack: closes the files.
    """

    def __init__(
        self, job: Job, phase: int, place: int, step: Step, shard: int, stack: ExitStack
    ) -> None:
        self._job, self._step, self._stage = job, step, barrier_stage(step)
        self._ordered_by = ordered_by(job, phase)
        self._payload = pa.schema([("document", pa.int64()), *self._stage.payload])
        self._buckets = Buckets(job, phase, place, shard, stack)
        self.names = [self._buckets.name, payload_name(phase, place, shard)]
        self._kept = stack.enter_context(ipc.create(job.scratch, self.names[1], self._payload))

    def add(self, batch: Batch, first: int, stats: Stats) -> None:
        """Sketch the living documents of a batch whose first is number ``first`` in the shard."""
        start = time.perf_counter()
        rows = np.flatnonzero(batch.alive)
        counts = stats.stage(self._step.name)
        counts.documents_in += len(rows)
        units = batch_units(batch, self._job.plan.measures)
        if self._step.when is not None and len(rows):
            rows = rows[self._step.when.holds(len(rows), units.take(rows).value)]
        counts.judged += len(rows)
        if len(rows):
            self._sketched(units.take(rows), rows, first)
        counts.seconds += time.perf_counter() - start

    def _sketched(self, units: Units, rows: Rows, first: int) -> None:
        with blamed(self._step):
            sketch = self._stage.sketch(units)
            orders = self._ordered_by.order(units)
        documents = first + rows[column(sketch.documents, "unit")]
        kept = [pa.array(documents, pa.int64())]
        kept += [sketch.documents.column(name) for name in self._stage.payload.names]
        self._kept.write_table(pa.table(kept, schema=self._payload))
        self._buckets.add(first + rows, sketch.buckets, orders)

    def finish(self) -> None:
        """Write what is left."""
        self._buckets.finish()
