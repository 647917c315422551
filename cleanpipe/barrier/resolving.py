"""All edges of a barrier in canonical order, and what its stages decide over them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from cleanpipe import ipc
from cleanpipe.barrier.rows import (
    EDGES,
    VERDICTS,
    barrier_stages,
    begins,
    canonical,
    column,
    with_order,
)
from cleanpipe.job import Job
from cleanpipe.ledger import Record
from cleanpipe.scratch import clusters_name, edges_name, verdicts_name
from cleanpipe.stage import Barrier

MERGED_ROWS = 2**21
"""Edges that are sorted at once, roughly."""


def resolve(job: Job, phase: int, documents: int, record: Record) -> None:
    """One pass over all edges in canonical order; writes a row for every document that goes."""
    step = job.plan.phases[phase].barrier[0]
    lead = barrier_stages(job, phase)[0]
    start = time.perf_counter()
    names = [verdicts_name(phase), clusters_name(phase)]
    with (
        ipc.create(job.scratch, names[0], VERDICTS) as verdicts,
        ipc.create(job.scratch, names[1], VERDICTS) as clusters,
    ):
        for table in lead.resolve(edges(job, phase), documents):
            table = table.select(VERDICTS.names).cast(VERDICTS).combine_chunks()
            for writer, key in ((verdicts, "later"), (clusters, "earlier")):
                ordered = table.sort_by([(key, "ascending"), ("later", "ascending")])
                writer.write_table(ordered.combine_chunks(), max(len(table), 1))
    record.files.update({f"scratch:{name}": 0 for name in names})
    record.stats.stage(step.name).seconds += time.perf_counter() - start


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
    return merged(streams, stages[0])


def merged(streams: list[pa.RecordBatch], stage: Barrier, rows: int = MERGED_ROWS) -> Iterator[pa.Table]:
    """Merge batches, each in canonical order of ``later``.

    Args:
        stage: says what keys of canonical order there are.
        rows: how many are sorted at once, roughly; no table's order depends on it.
    """
    at = [0] * len(streams)
    size = max(rows // max(len(streams), 1), 1)
    while True:
        active = [s for s, stream in enumerate(streams) if at[s] < stream.num_rows]
        if not active:
            return
        parts = [streams[s].slice(at[s], size) for s in active]
        table = pa.Table.from_batches(parts, with_order(EDGES, stage))
        of = np.repeat(np.arange(len(parts)), [part.num_rows for part in parts])
        order = canonical(table, stage, "later", "earlier", "rule")
        table, of = table.take(order), of[order]
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
