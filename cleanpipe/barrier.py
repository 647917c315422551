"""What the engine does at a barrier: keeps sketches by partition, brings equal buckets
together, and applies the verdicts. What a duplicate *is* the stage says."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe import ipc
from cleanpipe.batch import TEXT, Batch, Drop
from cleanpipe.job import Job
from cleanpipe.ledger import Record
from cleanpipe.phase import batch_units, blamed, count_losses
from cleanpipe.scratch import bases_name, edges_name, sketch_name, spool_name, verdicts_name
from cleanpipe.spec import Step
from cleanpipe.stage import Barrier
from cleanpipe.stats import Stats
from cleanpipe.store import Store
from cleanpipe.units import Units
from cleanpipe.writers import PartWriter

NAMES = pa.schema([("file", TEXT), ("row", pa.int64()), ("id", TEXT)])
EDGES = pa.schema(
    [
        ("later", pa.int64()),
        ("earlier", pa.int64()),
        ("similarity", pa.float64()),
        ("rule", pa.uint16()),
    ]
)
WINDOW = 2**20
"""Documents whose edges are held at once while resolving."""


def _stage(step: Step) -> Barrier:
    stage = step.stages[0]
    assert isinstance(stage, Barrier)
    return stage


class Sketches:
    """Collects the sketches of one shard for one barrier stage."""

    def __init__(self, job: Job, step: Step) -> None:
        self._job, self._step, self._stage = job, step, _stage(step)
        self._tables: list[pa.Table] = []
        self._schema = pa.schema(
            [("document", pa.int64()), ("bucket", pa.uint64()), *self._stage.payload]
        )

    def add(self, batch: Batch, first: int, stats: Stats) -> None:
        """Sketch the living documents of a batch whose first is number ``first`` in the shard."""
        start = time.perf_counter()
        rows = np.flatnonzero(batch.alive)
        counts = stats.stage(self._step.name)
        counts.documents_in += len(rows)
        if self._step.when is not None and len(rows):
            held = self._step.when.holds(
                len(rows), lambda name: _value(self._job, batch, name, rows)
            )
            rows = rows[held]
        counts.judged += len(rows)
        if len(rows):
            units = Units(batch.text.take(pa.array(rows, pa.int64())))
            with blamed(self._step):
                table = self._stage.sketch(units)
            places = first + rows[table.column("unit").to_numpy()]
            columns = [pa.array(places, pa.int64()), table.column("bucket")]
            columns += [table.column(name) for name in self._stage.payload.names]
            self._tables.append(pa.table(columns, schema=self._schema))
        counts.seconds += time.perf_counter() - start

    def save(self, name: str) -> None:
        table = pa.concat_tables(self._tables) if self._tables else self._schema.empty_table()
        table = table.combine_chunks().sort_by([("bucket", "ascending"), ("document", "ascending")])
        buckets = table.column("bucket").to_numpy()
        cuts = np.searchsorted(buckets, partition_borders(self._job.partitions))
        with ipc.create(self._job.scratch, name, self._schema) as writer:
            for start, end in zip((0, *cuts), (*cuts, len(table)), strict=True):
                part = table.slice(start, end - start).combine_chunks()
                batches = part.to_batches()
                writer.write_batch(batches[0] if batches else _empty(self._schema))


def _value(job: Job, batch: Batch, name: str, rows: npt.NDArray[np.int64]) -> pa.Array:
    return batch_units(batch, job.plan.measures).take(rows).value(name)


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema)


def partition_borders(partitions: int) -> npt.NDArray[np.uint64]:
    """First bucket of every partition but the first, uint64."""
    width = 2**64 // partitions
    return np.array([width * index for index in range(1, partitions)], dtype=np.uint64)


def save_bases(job: Job, phase: int, sizes: list[int]) -> int:
    """Keep the rank of every shard's first document; returns the number of documents."""
    bases = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    schema = pa.schema([("base", pa.int64())])
    with ipc.create(job.scratch, bases_name(phase), schema) as writer:
        writer.write_batch(pa.record_batch([pa.array(bases)], schema=schema))
    return int(bases[-1])


def load_bases(store: Store, phase: int) -> npt.NDArray[np.int64]:
    (batch,) = ipc.batches(store, bases_name(phase))
    bases: npt.NDArray[np.int64] = batch.column("base").to_numpy()
    return bases


def group(job: Job, phase: int, stage: int, partition: int, shards: int, record: Record) -> None:
    """Bring the sketches of one partition together and write the edges found."""
    step = job.plan.phases[phase].barrier[stage]
    start = time.perf_counter()
    bases = load_bases(job.scratch, phase)
    parts = []
    for shard in range(shards):
        reader = ipc.open_file(job.scratch, sketch_name(phase, stage, shard))
        part = reader.get_batch(partition)
        if part.num_rows:
            ranks = pc.add(part.column("document"), int(bases[shard]))
            columns = [ranks, *part.columns[1:]]
            parts.append(pa.table(columns, names=["rank", *part.schema.names[1:]]))
    edges = EDGES.empty_table()
    if parts:
        members = pa.concat_tables(parts).sort_by([("bucket", "ascending"), ("rank", "ascending")])
        with blamed(step):
            found = _stage(step).group(members.combine_chunks())
        rule = pa.array(np.full(len(found), stage, dtype=np.uint16))
        edges = found.append_column("rule", rule).select(EDGES.names).cast(EDGES)
        edges = edges.sort_by([("later", "ascending"), ("earlier", "ascending")])
    name = edges_name(phase, stage, partition)
    with ipc.create(job.scratch, name, EDGES) as writer:
        writer.write_table(edges.combine_chunks())
    record.files[f"scratch:{name}"] = 0
    record.stats.stage(step.name).seconds += time.perf_counter() - start


def resolve(job: Job, phase: int, documents: int, record: Record) -> None:
    """One pass over all edges in canonical order; writes a row for every document that goes."""
    steps = job.plan.phases[phase].barrier
    start = time.perf_counter()
    name = verdicts_name(phase)
    with ipc.create(job.scratch, name, EDGES) as writer:
        for table in _stage(steps[0]).resolve(_edges(job, phase, documents), documents):
            for batch in table.select(EDGES.names).cast(EDGES).combine_chunks().to_batches():
                writer.write_batch(batch)
    record.files[f"scratch:{name}"] = 0
    record.stats.stage(steps[0].name).seconds += time.perf_counter() - start


def _edges(job: Job, phase: int, documents: int) -> Iterator[pa.Table]:
    """The edges of a window of documents after another, sorted by the later document."""
    files = [
        batch
        for stage in range(len(job.plan.phases[phase].barrier))
        for partition in range(job.partitions)
        for batch in ipc.batches(job.scratch, edges_name(phase, stage, partition))
    ]
    laters = [batch.column("later").to_numpy() for batch in files]
    for first in range(0, documents, WINDOW):
        parts = []
        for batch, later in zip(files, laters, strict=True):
            low, high = np.searchsorted(later, [first, first + WINDOW])
            if low < high:
                parts.append(pa.Table.from_batches([batch.slice(low, high - low)]))
        if parts:
            order = [("later", "ascending"), ("earlier", "ascending"), ("rule", "ascending")]
            yield pa.concat_tables(parts).sort_by(order)


class Verdicts:
    """What a barrier decided about the documents of one shard."""

    def __init__(self, job: Job, phase: int, shard: int) -> None:
        self._job, self._phase, self._shard = job, phase, shard
        self._steps = job.plan.phases[phase].barrier
        self._bases = load_bases(job.scratch, phase)
        first, last = int(self._bases[shard]), int(self._bases[shard + 1])
        parts = []
        for batch in ipc.batches(job.scratch, verdicts_name(phase)):
            low, high = np.searchsorted(batch.column("later").to_numpy(), [first, last])
            parts.append(pa.Table.from_batches([batch.slice(low, high - low)]))
        table = pa.concat_tables(parts) if parts else EDGES.empty_table()
        self._places = table.column("later").to_numpy() - first
        self._survivors = table.column("earlier").to_numpy()
        self._similarity = table.column("similarity").to_numpy()
        self._rule = table.column("rule").to_numpy()
        self._names = self._survivor_names()
        self._seen = 0
        self._kept: list[npt.NDArray[np.int64]] = []

    def _survivor_names(self) -> list[dict[str, object]]:
        """File, row and id of each verdict's survivor, looked up in its shard."""
        names: list[dict[str, object]] = [{}] * len(self._survivors)
        shards = np.searchsorted(self._bases, self._survivors, side="right") - 1
        for shard in np.unique(shards).tolist():
            chosen = np.flatnonzero(shards == shard)
            reader = ipc.open_file(self._job.scratch, spool_name(self._phase, "names", shard))
            local = pa.array(self._survivors[chosen] - self._bases[shard])
            for place, name in zip(
                chosen.tolist(), reader.read_all().take(local).to_pylist(), strict=True
            ):
                names[place] = name
        return names

    def apply(self, batch: Batch, stats: Stats) -> None:
        """Drop the documents of the shard's next batch that are duplicates."""
        first = self._seen
        self._seen += len(batch)
        low, high = np.searchsorted(self._places, [first, self._seen])
        before = batch.alive.copy()
        for place in range(low, high):
            row = int(self._places[place]) - first
            step = self._steps[self._rule[place]]
            name = self._names[place]
            batch.alive[row] = False
            batch.drops[row] = Drop(
                step.name,
                step.kind,
                _stage(step).measure_name,
                similarity=float(self._similarity[place]),
                survivor_id=str(name["id"]),
                survivor_file=str(name["file"]),
                survivor_row=int(str(name["row"])),
            )
            stats.stage(step.name).dropped += 1
        for step in self._steps:
            gone = np.array(
                [r for r, d in batch.drops.items() if d.stage == step.name], dtype=np.int64
            )
            after = before.copy()
            after[gone] = False
            count_losses(stats, step.name, batch.source, before, after)
        self._kept.append(first + np.flatnonzero(batch.alive))

    def write_index(self, record: Record) -> None:
        """Write the survivors' sketches, for later runs to compare with."""
        kept = np.concatenate(self._kept) if self._kept else np.zeros(0, dtype=np.int64)
        names = ipc.open_file(
            self._job.scratch, spool_name(self._phase, "names", self._shard)
        ).read_all()
        for stage, step in enumerate(self._steps):
            payload = _stage(step).payload
            schema = pa.schema([*NAMES, ("bucket", pa.uint64()), *payload])
            stem = f"index/{step.name}/part-{self._shard:05d}"
            with PartWriter(self._job.output, stem, schema) as writer:
                name = sketch_name(self._phase, stage, self._shard)
                for part in ipc.batches(self._job.scratch, name):
                    documents = part.column("document").to_numpy()
                    rows = pa.array(np.flatnonzero(np.isin(documents, kept)))
                    found = names.take(part.column("document").take(rows))
                    columns = [*found.columns, *(c.take(rows) for c in part.columns[1:])]
                    writer.write(pa.table(columns, schema=schema))
            record.files.update(dict.fromkeys(writer.files, 0))
