"""Keeps what the stages of a barrier want of each document."""

from __future__ import annotations

import time
from contextlib import ExitStack

import numpy as np
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


class Sketches:
    """Collects the sketches of one shard for one barrier stage.

    Args:
        stack: closes the files.
    """

    def __init__(
        self, job: Job, phase: int, place: int, step: Step, shard: int, stack: ExitStack
    ) -> None:
        self._job, self._step, self._stage = job, step, barrier_stage(step)
        self._ordered_by, self._order = ordered_by(job, phase), Order.of(job, phase)
        self._schema = self._order.one(BUCKETS)
        self._payload = pa.schema([("document", pa.int64()), *self._stage.payload])
        self.names = [sketch_name(phase, place, shard), payload_name(phase, place, shard)]
        self._sketch, self._kept = (
            stack.enter_context(ipc.create(job.scratch, name, schema))
            for name, schema in zip(self.names, (self._schema, self._payload), strict=True)
        )
        self._tables: list[pa.Table] = []
        self._rows = 0

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
            self._sketched(batch, rows, first)
        counts.seconds += time.perf_counter() - start

    def _sketched(self, batch: Batch, rows: Rows, first: int) -> None:
        units = batch_units(batch, self._job.plan.measures).take(rows)
        with blamed(self._step):
            sketch = self._stage.sketch(units)
            orders = self._ordered_by.order(units)
        documents = first + rows[column(sketch.documents, "unit")]
        kept = [pa.array(documents, pa.int64())]
        kept += [sketch.documents.column(name) for name in self._stage.payload.names]
        self._kept.write_table(pa.table(kept, schema=self._payload))
        place = column(sketch.buckets, "unit")
        found = [pa.array(first + rows[place], pa.int64())]
        found += [sketch.buckets.column(name) for name in ("bucket", "fingerprint", "compare")]
        found += [pa.array(keys[place], pa.uint64()) for keys in orders]
        self._tables.append(pa.table(found, schema=self._schema))
        self._rows += len(place)
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
        write_run(self._sketch, table, cuts)

    def finish(self) -> None:
        """Write what is left."""
        if self._tables:
            self._flush()
