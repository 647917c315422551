"""Where a phase puts its documents: the final files, or the spool before a barrier."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe import ipc
from cleanpipe._native import token_counts
from cleanpipe.barrier.repeats import Passages
from cleanpipe.barrier.rows import NAMES, write_run
from cleanpipe.barrier.sketches import Sketches
from cleanpipe.batch import (
    DEAD,
    DROPPED,
    EDITS,
    MATCHES,
    TEXT,
    Batch,
    Records,
    kept_schema,
    measures_schema,
)
from cleanpipe.hosts import HostCounts
from cleanpipe.job import Job
from cleanpipe.leaks import Leaks
from cleanpipe.ledger import Record
from cleanpipe.scratch import spool_name
from cleanpipe.stats import Counts, Stats
from cleanpipe.weights import row_bytes
from cleanpipe.writers import PartWriter

UNDECIDED = "und"


class Sink(ABC):
    """Takes the batches of one shard in order; made by :func:`open_sink`."""

    def __init__(self, job: Job, phase: int, shard: int, record: Record, stack: ExitStack) -> None:
        self.job, self.phase, self.shard, self.record = job, phase, shard, record
        self._stack = stack

    @abstractmethod
    def write(self, batch: Batch, records: Records, dead: pa.Table) -> None:
        """Add a batch, what stages recorded of it, and what could not be read beside it."""

    @abstractmethod
    def copy_dead(self, rows: pa.Table) -> None:
        """Add what could not be read, as an earlier phase spooled it."""

    @abstractmethod
    def finish(self) -> None:
        """Write what is only known at the end."""

    @abstractmethod
    def files(self) -> list[str]:
        """Names of the files written, once they are whole."""


@contextmanager
def open_sink(job: Job, phase: int, shard: int, record: Record) -> Iterator[Sink]:
    """The sink of a phase; its files are whole, and in the record, when the block ends well."""
    kind = SpoolSink if job.plan.phases[phase].barrier else FinalSink
    with ExitStack() as stack:
        sink = kind(job, phase, shard, record, stack)
        yield sink
        sink.finish()
    record.files.update(dict.fromkeys(sink.files(), 0))


class FinalSink(Sink):
    """The output folders."""

    def __init__(self, job: Job, phase: int, shard: int, record: Record, stack: ExitStack) -> None:
        super().__init__(job, phase, shard, record, stack)
        plan, output = job.plan, job.output
        stem = f"part-{shard:05d}"
        schemas = {
            "dropped": DROPPED,
            "dead": DEAD,
            "measures": measures_schema(plan.measures),
            "edits": EDITS,
            **({"matches": MATCHES} if plan.matching else {}),
        }
        self._writers: dict[str, PartWriter] = {}
        if plan.output.format != "none":
            kept = kept_schema(job.columns.schema, plan.measures)
            self._writers["kept"] = PartWriter(
                output, f"kept/{stem}", kept, plan.output.format, plan.output.file_size
            )
        for folder, schema in schemas.items():
            self._writers[folder] = PartWriter(output, f"{folder}/{stem}", schema)
        for writer in self._writers.values():
            stack.enter_context(writer)
        self._hosts = HostCounts(job)
        self._leaks = Leaks()

    def write(self, batch: Batch, records: Records, dead: pa.Table) -> None:
        language = batch.label("language", self.job.plan.measures)
        if language is None:
            language = pa.nulls(len(batch), TEXT)
        tally(self.record.stats, batch, language)
        self._hosts.add(batch)
        kinds = self.job.plan.measures
        if "kept" in self._writers:
            self._writers["kept"].write(batch.kept(language, kinds))
        self._writers["dropped"].write(batch.dropped(language))
        self._writers["measures"].write(batch.measured(kinds))
        self._writers["edits"].write(records.edits)
        if "matches" in self._writers:
            self._writers["matches"].write(records.matches)
            self._leaks.add(records.matches)
        self.copy_dead(dead)

    def copy_dead(self, rows: pa.Table) -> None:
        self._writers["dead"].write(rows)
        self.record.stats.total.dead += len(rows)
        for source in rows.column("source").to_pylist():
            self.record.stats.source.setdefault(str(source), Counts()).dead += 1

    def finish(self) -> None:
        name = self._hosts.save(self.job, self.shard)
        if name is not None:
            self.record.files[f"scratch:{name}"] = 0
            self.record.data["hosts"] = True
        if "matches" in self._writers:
            self.record.data["leaks"] = self._leaks.to_json()

    def files(self) -> list[str]:
        return [name for writer in self._writers.values() for name in writer.files]


class SpoolSink(Sink):
    """Intermediates, with the sketches the barrier asks for."""

    def __init__(self, job: Job, phase: int, shard: int, record: Record, stack: ExitStack) -> None:
        super().__init__(job, phase, shard, record, stack)
        self._files: dict[str, pa.RecordBatchFileWriter] = {}
        self._names: list[str] = []
        self._rows = 0
        steps = job.plan.phases[phase].barrier
        self._sketches: list[Sketches] | list[Passages]
        if job.plan.phases[phase].rewrites:
            self._sketches = [Passages(job, phase, step, shard, stack) for step in steps]
        else:
            self._sketches = [
                Sketches(job, phase, place, step, shard, stack) for place, step in enumerate(steps)
            ]
        kinds = {"edits": EDITS, "dead": DEAD, "names": NAMES}
        if job.plan.matching:
            kinds["matches"] = MATCHES
        for kind, schema in kinds.items():
            self._open(kind, schema, compressed=False)

    def _open(self, kind: str, schema: pa.Schema, *, compressed: bool) -> None:
        name = spool_name(self.phase, kind, self.shard)
        self._files[kind] = self._stack.enter_context(
            ipc.create(self.job.scratch, name, schema, compressed=compressed)
        )
        self._names.append(name)

    def write(self, batch: Batch, records: Records, dead: pa.Table) -> None:
        if len(batch):
            table = batch.spooled(self.job.plan.measures)
            if "documents" not in self._files:
                self._open("documents", table.schema, compressed=True)
            # One batch of each, records too: the next phase reads them side by side.
            tables = {"documents": table, "names": table.select(NAMES.names), **records._asdict()}
            for kind, rows in tables.items():
                if kind in self._files:
                    write_run(self._files[kind], rows, np.zeros(0, dtype=np.int64))
        self.copy_dead(dead)
        for sketches in self._sketches:
            sketches.add(batch, self._rows, self.record.stats)
        self._rows += len(batch)

    def copy_dead(self, rows: pa.Table) -> None:
        if len(rows):
            self._files["dead"].write_table(rows)

    def finish(self) -> None:
        if "documents" not in self._files:
            # A shard may hold no document at all; the next phase still finds its file.
            self._open("documents", pa.schema([]), compressed=False)
        for sketches in self._sketches:
            sketches.finish()
            self._names += sketches.names
        self.record.data["documents"] = self._rows

    def files(self) -> list[str]:
        return [f"scratch:{name}" for name in self._names]


def tally(stats: Stats, batch: Batch, language: pa.Array) -> None:
    """Count a batch whose verdicts are final."""
    kept = batch.alive
    bytes_now = row_bytes(batch.text)
    tokens_now = np.asarray(token_counts(batch.text))
    labelled = any(name.rpartition(".")[2] == "language" for name in batch.measures)
    sources = batch.source.to_numpy(zero_copy_only=False)
    languages = pc.fill_null(language, UNDECIDED).to_numpy(zero_copy_only=False)
    groups: list[tuple[Counts, np.ndarray]] = [(stats.total, np.ones(len(batch), dtype=np.bool_))]
    for name in dict.fromkeys(sources.tolist()):
        groups.append((stats.source.setdefault(name, Counts()), sources == name))
    for name in dict.fromkeys(languages.tolist()) if labelled else ():
        counts = stats.language.setdefault(name, Counts())
        chosen = languages == name
        counts.documents_in += int(chosen.sum())  # a dead record has no language
        groups.append((counts, chosen))
    for counts, chosen in groups:
        counts.kept += int((chosen & kept).sum())
        counts.dropped += int((chosen & ~kept).sum())
        counts.bytes_in += int(batch.bytes_in[chosen].sum())
        counts.bytes_kept += int(bytes_now[chosen & kept].sum())
        counts.bytes_dropped += int(batch.bytes_in[chosen & ~kept].sum())
        counts.tokens_in += int(batch.tokens_in[chosen].sum())
        counts.tokens_kept += int(tokens_now[chosen & kept].sum())
        counts.tokens_dropped += int(batch.tokens_in[chosen & ~kept].sum())
