"""What occurred before in the corpus: the barrier of a corpus rewriter.

A shard's passages go to partitions by their hash; a partition sends those that are not the first
of their hash back to the shards, whose next phase begins by rewriting them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cleanpipe import ipc
from cleanpipe.barrier.rows import (
    begins,
    column,
    load_bases,
    partition_borders,
    run_parts,
    windows,
    write_run,
)
from cleanpipe.batch import Batch
from cleanpipe.job import Job
from cleanpipe.ledger import Record
from cleanpipe.phase import batch_units, blamed
from cleanpipe.scratch import repeats_name, sketch_name
from cleanpipe.spec import Step
from cleanpipe.stage import CorpusRewriter, Repeats, Rows
from cleanpipe.stats import Stats

PASSAGES = pa.schema([("document", pa.int64()), ("start", pa.int64()), ("hash", pa.uint64())])
REPEATS = pa.schema([("document", pa.int64()), ("start", pa.int64()), ("occurrence", pa.int64())])
RUN_ROWS = 2**21
"""Rows that are collected before a run of them is written: 50 MB."""
WINDOW_ROWS = 2**21
"""Passages that are looked at together, roughly."""


def rewriter(step: Step) -> CorpusRewriter:
    stage = step.stages[0]
    assert isinstance(stage, CorpusRewriter)
    return stage


class Passages:
    """Collects the passages of one shard.

    Args:
        stack: closes the file.
    """

    def __init__(self, job: Job, phase: int, step: Step, shard: int, stack: ExitStack) -> None:
        self._job, self._step, self._stage = job, step, rewriter(step)
        self.names = [sketch_name(phase, 0, shard)]
        self._writer = stack.enter_context(ipc.create(job.scratch, self.names[0], PASSAGES))
        self._tables: list[pa.Table] = []
        self._rows = 0

    def add(self, batch: Batch, first: int, stats: Stats) -> None:
        """Sketch the living documents of a batch whose first is number ``first`` in the shard."""
        start = time.perf_counter()
        rows = np.flatnonzero(batch.alive)
        units = batch_units(batch, self._job.plan.measures)
        if self._step.when is not None and len(rows):
            rows = rows[self._step.when.holds(len(rows), units.take(rows).value)]
        if len(rows):
            with blamed(self._step):
                found = self._stage.sketch(units.take(rows))
            document = pa.array(first + rows[column(found, "unit")], pa.int64())
            table = pa.table([document, found["start"], found["hash"]], schema=PASSAGES)
            self._tables.append(table)
            self._rows += len(table)
            if self._rows >= RUN_ROWS:
                self.finish()
        stats.stage(self._step.name).seconds += time.perf_counter() - start

    def finish(self) -> None:
        """Write what is collected."""
        if not self._tables:
            return
        table = pa.concat_tables(self._tables)
        self._tables, self._rows = [], 0
        # Stable: of one hash the passages stay in the order of the shard.
        rows = np.argsort(column(table, "hash"), kind="stable")
        table = table.take(pa.array(rows))
        cuts = np.searchsorted(column(table, "hash"), partition_borders(self._job.partitions))
        write_run(self._writer, table, cuts)


def find(job: Job, phase: int, partition: int, record: Record) -> None:
    """Write the passages of one partition that are not the first of their hash."""
    (step,) = job.plan.phases[phase].barrier
    start = time.perf_counter()
    name = repeats_name(phase, partition)
    shards = len(load_bases(job.scratch, phase).shards)
    with ipc.create(job.scratch, name, REPEATS) as writer:
        waiting: list[tuple[Rows, pa.Table]] = []
        for found in _repeats(job, phase, partition, shards):
            waiting.append(found)
            if sum(len(table) for _, table in waiting) >= RUN_ROWS:
                _write(writer, waiting, shards)
                waiting = []
        if waiting:
            _write(writer, waiting, shards)
    record.files[f"scratch:{name}"] = 0
    record.stats.stage(step.name).seconds += time.perf_counter() - start


def _write(
    writer: pa.RecordBatchFileWriter, found: list[tuple[Rows, pa.Table]], shards: int
) -> None:
    shard = np.concatenate([shard for shard, _ in found])
    table = pa.concat_tables([table for _, table in found])
    rows = np.lexsort((column(table, "start"), column(table, "document"), shard))
    cuts = np.searchsorted(shard[rows], np.arange(1, shards))
    write_run(writer, table.take(pa.array(rows)), cuts)


def _repeats(job: Job, phase: int, partition: int, shards: int) -> Iterator[tuple[Rows, pa.Table]]:
    """The passages that occurred before: their shards, and what these are told of them."""
    shard, parts = [], []
    for number in range(shards):
        name = sketch_name(phase, 0, number)
        for part in run_parts(job.scratch, name, job.partitions, partition):
            shard.append(number)
            parts.append(part)
    for window in windows(parts, "hash", WINDOW_ROWS, job.partitions, partition):
        counts = Occurrences()
        # In source order, and no more at a time than fits, be all the rows of one hash.
        for some in _together([len(rows) for rows in window]):
            table = pa.Table.from_batches([window[place] for place in some], PASSAGES)
            of = np.repeat([shard[place] for place in some], [len(window[p]) for p in some])
            occurrence = counts.add(column(table, "hash").astype(np.uint64))
            rows = np.flatnonzero(occurrence > 1)
            told = table.select(["document", "start"]).take(pa.array(rows))
            yield of[rows], told.append_column("occurrence", pa.array(occurrence[rows]))


def _together(sizes: list[int]) -> Iterator[list[int]]:
    """Places of what is not empty, in groups of WINDOW_ROWS or little more."""
    places: list[int] = []
    rows = 0
    for place, size in enumerate(sizes):
        if size:
            places.append(place)
            rows += size
        if rows >= WINDOW_ROWS:
            yield places
            places, rows = [], 0
    if places:
        yield places


class Occurrences:
    """How often each hash occurred so far."""

    def __init__(self) -> None:
        self._hash = np.zeros(0, dtype=np.uint64)
        self._count = np.zeros(0, dtype=np.int64)

    def add(self, hashes: npt.NDArray[np.uint64]) -> Rows:
        """Which occurrence of its hash each of these is, from 1 on: int64, shape (n,)."""
        order = np.argsort(hashes, kind="stable")
        first = np.flatnonzero(begins(hashes[order]))
        different = hashes[order][first]
        number = np.diff(np.append(first, len(order)))
        place = np.searchsorted(self._hash, different)
        known = np.isin(different, self._hash, assume_unique=True)
        before = np.zeros(len(first), dtype=np.int64)
        before[known] = self._count[place[known]]
        occurrence = np.empty(len(order), dtype=np.int64)
        occurrence[order] = np.arange(1, len(order) + 1) + np.repeat(before - first, number)
        self._count[place[known]] += number[known]
        self._hash = np.insert(self._hash, place[~known], different[~known])
        self._count = np.insert(self._count, place[~known], number[~known])
        return occurrence


class Repeated:
    """What of one shard's passages occurred before: mapped, taken from as needed."""

    def __init__(self, job: Job, phase: int, shard: int) -> None:
        shards = len(load_bases(job.scratch, phase).shards)
        self._parts = [
            part
            for partition in range(job.partitions)
            for part in run_parts(job.scratch, repeats_name(phase, partition), shards, shard)
        ]
        self._documents = [column(part, "document") for part in self._parts]
        self._seen = 0

    def apply(self, batch: Batch, stats: Stats) -> None:
        """Tell the shard's next batch; the rewriter's step counts what it makes of it."""
        span = [self._seen, self._seen + len(batch)]
        self._seen = span[1]
        found = [REPEATS.empty_table()]
        for part, documents in zip(self._parts, self._documents, strict=True):
            low, high = np.searchsorted(documents, span).tolist()
            found.append(pa.Table.from_batches([part.slice(low, high - low)]))
        table = pa.concat_tables(found)
        rows = np.lexsort((column(table, "start"), column(table, "document")))
        batch.repeats = Repeats(
            column(table, "document")[rows].astype(np.int64) - span[0],
            column(table, "start")[rows].astype(np.int64),
            column(table, "occurrence")[rows].astype(np.int64),
        )
