"""The tasks of a run: each reads what is committed, writes whole files, and may run twice."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cleanpipe import _native, hosts, ipc
from cleanpipe.barrier import earlier, pairs, repeats, resolving, verifying
from cleanpipe.barrier.verdicts import Verdicts, clusters, largest
from cleanpipe.batch import DEAD, TEXT, Batch, Records
from cleanpipe.edits import in_document_order
from cleanpipe.guards import LOST_DOCUMENTS, LOST_SHARE
from cleanpipe.job import Job
from cleanpipe.ledger import Record
from cleanpipe.phase import PhaseRun
from cleanpipe.readers import Dead, ReadBatch, read
from cleanpipe.scratch import spool_name
from cleanpipe.shards import Piece, Shard, check_unchanged, count_lines, needs_scan
from cleanpipe.sinks import open_sink
from cleanpipe.stats import Counts, Stats
from cleanpipe.weights import row_bytes

Report = Callable[[Stats], None]
"""Is told of a task's counts so far, after every batch."""


@dataclass(frozen=True)
class Task(ABC):
    """A piece of work for one worker."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Unique in the run; names the commit record."""

    @property
    def weight(self) -> int:
        """How much work it is beside others of its kind; decides who goes first, no byte."""
        return 0

    @abstractmethod
    def run(self, job: Job, record: Record, report: Report) -> None:
        """Do it, entering files and counts in ``record``."""


def perform(job: Job, task: Task, report: Report = lambda stats: None) -> Record:
    """Run a task and commit what it did."""
    started = time.perf_counter()
    record = Record(task.name, job.fingerprint)
    task.run(job, record, report)
    record.stats.seconds += time.perf_counter() - started
    for name in record.files:
        size = job.ledger.size(name)
        assert size is not None, name
        record.files[name] = size
    job.ledger.commit(record)
    return record


@dataclass(frozen=True)
class ScanTask(Task):
    """Count the lines of a shard's byte ranges, so that every line gets its row."""

    shard: Shard

    @property
    def name(self) -> str:
        return f"scan-{self.shard.index:05d}"

    def run(self, job: Job, record: Record, report: Report) -> None:
        record.data["lines"] = [
            [piece.file.index, piece.start, count_lines(piece)]
            for piece in self.shard.pieces
            if needs_scan(piece)
        ]


@dataclass(frozen=True)
class ReadTask(Task):
    """The first phase over a shard: from its files."""

    shard: Shard

    @property
    def name(self) -> str:
        return f"phase0-{self.shard.index:05d}"

    @property
    def weight(self) -> int:
        return self.shard.size

    def run(self, job: Job, record: Record, report: Report) -> None:
        stats = record.stats
        phase = PhaseRun(job.plan.run_in(0), job.plan.measures, stats)
        with open_sink(job, 0, self.shard.index, record) as sink:
            for piece in self.shard.pieces:
                check_unchanged(piece.file)
                source = job.sources[piece.file.source]
                counts = stats.source.setdefault(source.name, Counts())
                for part in read(piece, source, job.columns, job.batch_bytes):
                    found = part.table.num_rows + len(part.dead)
                    stats.total.documents_in += found
                    counts.documents_in += found
                    stats.extra += part.misfits
                    stats.replaced += part.replaced
                    batch = make_batch(piece, part)
                    stats.bytes_read += int(batch.bytes_in.sum())
                    records = phase.run(batch)
                    sink.write(batch, records, dead_table(piece, part.dead))
                    report(stats)
                check_unchanged(piece.file)


@dataclass(frozen=True)
class SpoolTask(Task):
    """A later phase over a shard: from the spool, under what the barrier before decided."""

    phase: int
    shard: int
    size: int = 0

    @property
    def name(self) -> str:
        return f"phase{self.phase}-{self.shard:05d}"

    @property
    def weight(self) -> int:
        return self.size

    def run(self, job: Job, record: Record, report: Report) -> None:
        phase = PhaseRun(job.plan.run_in(self.phase), job.plan.measures, record.stats)
        before = self.phase - 1
        rewrites = job.plan.phases[before].rewrites
        decided = (repeats.Repeated if rewrites else Verdicts)(job, before, self.shard)
        with open_sink(job, self.phase, self.shard, record) as sink:
            for batch, earlier in _spooled(job, before, self.shard):
                decided.apply(batch, record.stats)
                records = in_document_order([earlier, phase.run(batch)], batch)
                sink.write(batch, records, DEAD.empty_table())
                report(record.stats)
            for rows in ipc.batches(job.scratch, spool_name(before, "dead", self.shard)):
                sink.copy_dead(pa.Table.from_batches([rows], DEAD))
            if isinstance(decided, Verdicts):
                decided.write_index(record)
        if isinstance(decided, Verdicts):
            record.data["clusters"] = clusters(job, before, self.shard)


@dataclass(frozen=True)
class RepeatsTask(Task):
    """Find what occurred before, for one partition of a corpus rewriter's passages."""

    phase: int
    partition: int

    @property
    def name(self) -> str:
        return f"repeats{self.phase}-{self.partition:05d}"

    def run(self, job: Job, record: Record, report: Report) -> None:
        repeats.find(job, self.phase, self.partition, record)


@dataclass(frozen=True)
class EarlierTask(Task):
    """Sketch the survivors of one part of an earlier run."""

    phase: int
    shard: int

    @property
    def name(self) -> str:
        return f"earlier{self.phase}-{self.shard:05d}"

    def run(self, job: Job, record: Record, report: Report) -> None:
        earlier.sketch(job, self.phase, self.shard, record)


@dataclass(frozen=True)
class GroupTask(Task):
    """Bring equal buckets together, for one partition of one barrier stage."""

    phase: int
    stage: int
    partition: int

    @property
    def name(self) -> str:
        return f"group{self.phase}-{self.stage}-{self.partition:05d}"

    def run(self, job: Job, record: Record, report: Report) -> None:
        pairs.group(job, self.phase, self.stage, self.partition, record)


@dataclass(frozen=True)
class RequestTask(Task):
    """Say what is needed to compare one partition of pairs."""

    phase: int
    stage: int
    partition: int

    @property
    def name(self) -> str:
        return f"request{self.phase}-{self.stage}-{self.partition:05d}"

    def run(self, job: Job, record: Record, report: Report) -> None:
        verifying.request(job, self.phase, self.stage, self.partition, record)


@dataclass(frozen=True)
class FetchTask(Task):
    """Get what is needed of the documents of one shard."""

    phase: int
    stage: int
    shard: int

    @property
    def name(self) -> str:
        return f"fetch{self.phase}-{self.stage}-{self.shard:05d}"

    def run(self, job: Job, record: Record, report: Report) -> None:
        verifying.fetch(job, self.phase, self.stage, self.shard, record)


@dataclass(frozen=True)
class VerifyTask(Task):
    """Compare one partition of pairs."""

    phase: int
    stage: int
    partition: int

    @property
    def name(self) -> str:
        return f"verify{self.phase}-{self.stage}-{self.partition:05d}"

    def run(self, job: Job, record: Record, report: Report) -> None:
        verifying.verify(job, self.phase, self.stage, self.partition, record)


@dataclass(frozen=True)
class ResolveTask(Task):
    """Decide who goes, once, in canonical order."""

    phase: int

    @property
    def name(self) -> str:
        return f"resolve{self.phase}"

    def run(self, job: Job, record: Record, report: Report) -> None:
        resolving.resolve(job, self.phase, record)
        # Those of this run's survivors are looked for with the verdicts, shard by shard.
        record.data["clusters"] = largest(
            cluster
            for shard in range(-len(job.plan.earlier_parts), 0)
            for cluster in clusters(job, self.phase, shard)
        )


@dataclass(frozen=True)
class HostsTask(Task):
    """Look for hosts that lost nearly all, for one partition of them."""

    partition: int
    shards: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"hosts-{self.partition:05d}"

    def run(self, job: Job, record: Record, report: Report) -> None:
        record.data["hosts"] = hosts.lost(
            job, self.partition, self.shards, LOST_DOCUMENTS, LOST_SHARE
        )


def _spooled(job: Job, phase: int, shard: int) -> Iterator[tuple[Batch, Records]]:
    """The batches of a shard, each with what was recorded of it so far."""
    kinds = ("documents", "edits", "matches") if job.plan.matching else ("documents", "edits")
    files = [ipc.batches(job.scratch, spool_name(phase, kind, shard)) for kind in kinds]
    for table, *records in zip(*files, strict=True):
        batch = Batch.unspooled(table, job.plan.measures, job.columns.schema)
        yield batch, Records(*(pa.Table.from_batches([rows]) for rows in records))


def make_batch(piece: Piece, part: ReadBatch) -> Batch:
    """A reader's batch, ready for the stages."""
    table = part.table
    size = table.num_rows
    text = table.column("text")
    return Batch(
        file=pa.repeat(pa.scalar(piece.file.file, TEXT), size),
        row=table.column("row"),
        id=table.column("id"),
        url=table.column("url"),
        source=pa.repeat(pa.scalar(piece.file.source, TEXT), size),
        text=text,
        columns=part.columns,
        measures={},
        bytes_in=row_bytes(text),
        tokens_in=np.asarray(_native.token_counts(text)),
    )


def dead_table(piece: Piece, dead: list[Dead]) -> pa.Table:
    """The rows for ``dead/``."""
    rows = [
        {"source": piece.file.source, "file": piece.file.file, **vars(record)} for record in dead
    ]
    return pa.Table.from_pylist(rows, DEAD)
