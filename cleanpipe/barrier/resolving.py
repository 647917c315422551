"""All edges of a barrier in canonical order, and what its stages decide over them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from cleanpipe import ipc
from cleanpipe.barrier.rows import (
    EDGES,
    VERDICTS,
    Order,
    barrier_stages,
    begins,
    column,
    load_bases,
)
from cleanpipe.job import Job
from cleanpipe.ledger import Record
from cleanpipe.scratch import clusters_name, decided_name, edges_name, verdicts_name
from cleanpipe.stage import Rows

DECIDED = pa.schema([*VERDICTS, ("pending", pa.bool_())])
MERGED_ROWS = 2**21
"""Edges that are sorted at once, roughly."""


def resolve(job: Job, phase: int, record: Record) -> None:
    """One pass over all edges in canonical order; writes a row for every document that goes."""
    step = job.plan.phases[phase].barrier[0]
    stages = barrier_stages(job, phase)
    documents = load_bases(job.scratch, phase).documents
    start = time.perf_counter()
    with ipc.create(job.scratch, decided_name(phase), DECIDED) as writer:
        for table in stages[0].resolve(edges(job, phase), documents, stages):
            _write(writer, table.select(DECIDED.names).cast(DECIDED), "later")
    decided = _Decided(job, phase)
    names = [verdicts_name(phase), clusters_name(phase)]
    with (
        ipc.create(job.scratch, names[0], VERDICTS) as verdicts,
        ipc.create(job.scratch, names[1], VERDICTS) as clusters,
    ):
        for batch in decided.batches:
            table = complete(pa.Table.from_batches([batch]), decided.of)
            for writer, key in ((verdicts, "later"), (clusters, "earlier")):
                _write(writer, table.select(VERDICTS.names), key)
    record.files.update({f"scratch:{name}": 0 for name in names})
    record.stats.stage(step.name).seconds += time.perf_counter() - start


def _write(writer: pa.RecordBatchFileWriter, table: pa.Table, key: str) -> None:
    """Write a table as one batch, sorted by a column."""
    table = table.sort_by([(key, "ascending"), ("later", "ascending")]).combine_chunks()
    writer.write_table(table, max(len(table), 1))


class _Decided:
    """The verdicts as the stage gave them, mapped: nothing is held in memory."""

    def __init__(self, job: Job, phase: int) -> None:
        self.batches = [b for b in ipc.batches(job.scratch, decided_name(phase)) if b.num_rows]
        self._later = [column(batch, "later") for batch in self.batches]

    def of(self, documents: Rows) -> pa.Table:
        """The verdicts of dropped documents, a row each."""
        table = pa.Table.from_batches(self.batches, DECIDED)
        first, rows = 0, np.full(len(documents), -1, dtype=np.int64)
        for later in self._later:
            place = np.minimum(np.searchsorted(later, documents), len(later) - 1)
            found = later[place] == documents
            rows[found] = first + place[found]
            first += len(later)
        return table.take(pa.array(rows))


def complete(verdicts: pa.Table, of: Callable[[Rows], pa.Table]) -> pa.Table:
    """Verdicts with a survivor in every row.

    Args:
        verdicts: a table as :meth:`cleanpipe.stage.Barrier.resolve` gives it.
        of: finds the verdicts of these dropped documents, given by number, a row each in this
            order. They may be pending themselves.

    Returns:
        ``verdicts``, its pending rows with the survivor and similarity of the document that they
        are the same as.
    """
    earlier, similarity = verdicts["earlier"].to_numpy(), verdicts["similarity"].to_numpy()
    earlier, similarity = earlier.copy(), similarity.copy()
    rows = np.flatnonzero(verdicts["pending"].to_numpy())
    while len(rows):
        found = of(earlier[rows])
        earlier[rows] = found["earlier"].to_numpy()
        similarity[rows] = found["similarity"].to_numpy()
        rows = rows[found["pending"].to_numpy()]
    done = np.zeros(len(earlier), dtype=np.bool_)
    columns = [verdicts["later"], earlier, similarity, verdicts["rule"], done]
    return pa.table(columns, schema=DECIDED)


def edges(job: Job, phase: int) -> Iterator[pa.Table]:
    """All edges, in canonical order of the later document, those of a document in one table."""
    stages = barrier_stages(job, phase)
    streams = [
        batch
        for place in range(len(stages))
        for kind in ("same", "similar")
        for partition in range(job.partitions)
        if job.scratch.exists(edges_name(phase, place, kind, partition))
        for batch in ipc.batches(job.scratch, edges_name(phase, place, kind, partition))
        if batch.num_rows
    ]
    return merged(streams, Order.of(job, phase))


def merged(streams: list[pa.RecordBatch], order: Order) -> Iterator[pa.Table]:
    """Merge batches, each in canonical order of ``later``; MERGED_ROWS only bounds memory."""
    at = [0] * len(streams)
    size = max(MERGED_ROWS // max(len(streams), 1), 1)
    while True:
        active = [s for s, stream in enumerate(streams) if at[s] < stream.num_rows]
        if not active:
            return
        parts = [streams[s].slice(at[s], size) for s in active]
        table = pa.Table.from_batches(parts, order.two(EDGES))
        of = np.repeat(np.arange(len(parts)), [part.num_rows for part in parts])
        rows = order.edges(table)
        table, of = table.take(rows), of[rows]
        new = begins(column(table, "later"))
        first = np.maximum.accumulate(np.where(new, np.arange(len(new)), 0))
        # What comes behind the last row of a stream that goes on is not known yet.
        end = len(of)
        for part, s in enumerate(active):
            if at[s] + parts[part].num_rows < streams[s].num_rows:
                end = min(end, int(first[np.flatnonzero(of == part)[-1]]))
        if end == 0:
            size *= 2  # more edges of one document than fit
            continue
        yield table.slice(0, end)
        for part, used in enumerate(np.bincount(of[:end], minlength=len(parts)).tolist()):
            at[active[part]] += used
