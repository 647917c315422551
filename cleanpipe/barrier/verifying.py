"""Compares pairs: what is needed of the documents travels to the pairs, then each is looked at.

Pairs are divided among the partitions by the number of the later document.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe import ipc
from cleanpipe.barrier import earlier
from cleanpipe.barrier.rows import (
    EDGES,
    PAIRS,
    Order,
    barrier_stage,
    begins,
    column,
    load_bases,
    run_parts,
    write_run,
)
from cleanpipe.job import Job
from cleanpipe.ledger import Record
from cleanpipe.phase import blamed
from cleanpipe.scratch import (
    checks_name,
    details_name,
    edges_name,
    pairs_name,
    payload_name,
    spool_name,
    wanted_name,
)
from cleanpipe.stage import Barrier, Rows

NUMBERS = pa.schema([("number", pa.int64())])
TOGETHER = 2**26
"""Bytes of details that are held at once while pairs are compared, roughly."""


def request(job: Job, phase: int, place: int, partition: int, record: Record) -> None:
    """Write the different pairs of one partition, and which documents they need."""
    step = job.plan.phases[phase].barrier[place]
    start = time.perf_counter()
    bases = load_bases(job.scratch, phase)
    schema = Order.of(job, phase).two(PAIRS)
    pairs = schema.empty_table()
    for source in range(job.partitions):
        name = pairs_name(phase, place, source)
        parts = list(run_parts(job.scratch, name, job.partitions, partition))
        # Pair by pair, source by source: what many bands found is held once.
        pairs = _different(pa.concat_tables([pairs, pa.Table.from_batches(parts, schema)]))
    names = [checks_name(phase, place, partition), wanted_name(phase, place, partition)]
    with ipc.create(job.scratch, names[0], schema) as writer:
        writer.write_table(pairs.combine_chunks())
    numbers = np.unique(np.concatenate([column(pairs, "later"), column(pairs, "earlier")]))
    with ipc.create(job.scratch, names[1], NUMBERS) as writer:
        table = pa.table([pa.array(numbers, pa.int64())], schema=NUMBERS)
        write_run(writer, table, np.searchsorted(numbers, bases.first[1:-1]))
    record.files.update({f"scratch:{name}": 0 for name in names})
    record.stats.stage(step.name).seconds += time.perf_counter() - start


def _different(pairs: pa.Table) -> pa.Table:
    later, earlier = column(pairs, "later"), column(pairs, "earlier")
    rows = np.lexsort((earlier, later))
    return pairs.take(rows[begins(later[rows], earlier[rows])])


def fetch(job: Job, phase: int, place: int, shard: int, record: Record) -> None:
    """Write what the documents of one shard are compared by, for the partitions that asked."""
    step = job.plan.phases[phase].barrier[place]
    stage = barrier_stage(step)
    start = time.perf_counter()
    bases = load_bases(job.scratch, phase)
    base, _ = bases.of(shard)
    wanted = []  # by partition: places in the shard, ascending
    for partition in range(job.partitions):
        name = wanted_name(phase, place, partition)
        runs = run_parts(job.scratch, name, len(bases.shards), bases.place(shard))
        parts = [column(part, "number") for part in runs]
        wanted.append(np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64) - base)
    name = details_name(phase, place, shard)
    writer = None
    with blamed(step):
        kind = stage.detail(stage.payload.empty_table(), _no_text(stage)).type
        schema = pa.schema([*NUMBERS, ("detail", kind)])
        with ipc.create(job.scratch, name, schema) as writer:
            for documents, detail in _details(job, phase, place, shard, stage, wanted):
                rows, cuts = [], [0]
                for some in wanted:
                    low, high = np.searchsorted(some, [documents[0], documents[-1] + 1])
                    rows.append(np.searchsorted(documents, some[low:high]))
                    cuts.append(cuts[-1] + high - low)
                taken = pa.array(np.concatenate(rows))
                numbers = pa.array(base + documents).take(taken)
                table = pa.table([numbers, detail.take(taken)], schema=schema)
                write_run(writer, table, np.array(cuts[1:-1], dtype=np.int64))
    record.files[f"scratch:{name}"] = 0
    record.stats.stage(step.name).seconds += time.perf_counter() - start


def _no_text(stage: Barrier) -> pa.LargeStringArray | None:
    return pa.array([], pa.large_string()) if stage.reads_text else None


def _details(
    job: Job, phase: int, place: int, shard: int, stage: Barrier, wanted: list[Rows]
) -> Iterator[tuple[Rows, pa.Array]]:
    """The documents of a shard that anyone wants, batch by batch, with their details."""
    every = np.unique(np.concatenate([np.zeros(0, np.int64), *wanted]))
    if not len(every):
        return
    if shard < 0:
        payload = earlier.payload(job, phase, place, shard, every)
    else:
        payload = ipc.open_file(job.scratch, payload_name(phase, place, shard)).read_all()
    sketched = column(payload, "document")
    payload = payload.select(stage.payload.names)
    texts: Iterable[tuple[Rows, pa.LargeStringArray | None]] = [(every, None)]
    if stage.reads_text:
        texts = (earlier.texts if shard < 0 else _texts)(job, phase, shard, every)
    for documents, text in texts:
        rows = pa.array(np.searchsorted(sketched, documents))
        yield documents, stage.detail(payload.take(rows).combine_chunks(), text)


def _texts(
    job: Job, phase: int, shard: int, wanted: Rows
) -> Iterator[tuple[Rows, pa.LargeStringArray]]:
    first = 0
    for batch in ipc.batches(job.scratch, spool_name(phase, "documents", shard)):
        low, high = np.searchsorted(wanted, [first, first + batch.num_rows])
        documents = wanted[low:high]
        if len(documents):
            yield documents, batch.column("text").take(pa.array(documents - first))
        first += batch.num_rows


def verify(job: Job, phase: int, place: int, partition: int, record: Record) -> None:
    """Compare the pairs of one partition and write the edges."""
    step = job.plan.phases[phase].barrier[place]
    stage = barrier_stage(step)
    start = time.perf_counter()
    pairs = ipc.open_file(job.scratch, checks_name(phase, place, partition)).read_all()
    name = edges_name(phase, place, "similar", partition)
    order = Order.of(job, phase)
    schema = order.two(EDGES)
    with ipc.create(job.scratch, name, schema) as writer:
        if len(pairs):
            with blamed(step):
                similarity = _Details(job, phase, place, partition).compare(stage, pairs)
            found = pairs.append_column("similarity", pa.array(similarity))
            found = found.filter(pa.array(~np.isnan(similarity)))
            size = len(found)
            columns = {
                "rule": pa.array(np.full(size, place, dtype=np.uint16)),
                "same": pa.array(np.zeros(size, dtype=np.bool_)),
            }
            for title, values in columns.items():
                found = found.append_column(title, values)
            edges = found.select(schema.names).cast(schema)
            edges = edges.take(order.edges(edges)).combine_chunks()
            writer.write_table(edges, max(len(edges), 1))
    record.files[f"scratch:{name}"] = 0
    record.stats.stage(step.name).seconds += time.perf_counter() - start


class _Details:
    """What the shards sent to one partition: mapped, taken from as needed."""

    def __init__(self, job: Job, phase: int, place: int, partition: int) -> None:
        self._parts: list[pa.Array] = []
        numbers = []
        for shard in load_bases(job.scratch, phase).shards:
            name = details_name(phase, place, shard)
            for part in run_parts(job.scratch, name, job.partitions, partition):
                numbers.append(column(part, "number").astype(np.int64))
                self._parts.append(part.column("detail"))
        # Shards come in order, and so do runs: all numbers are ascending.
        self._numbers = np.concatenate(numbers)
        self._first = np.cumsum([0, *map(len, numbers)])
        sizes = [_sizes(part) for part in self._parts]
        self._size = np.concatenate(sizes)

    def compare(self, stage: Barrier, pairs: pa.Table) -> np.ndarray:
        """The similarity of each pair: float64, NaN where there is none."""
        left = np.searchsorted(self._numbers, column(pairs, "later"))
        right = np.searchsorted(self._numbers, column(pairs, "earlier"))
        load = np.cumsum(self._size[left] + self._size[right])
        found = np.empty(len(pairs))
        begin = 0
        while begin < len(pairs):
            before = load[begin - 1] if begin else 0
            end = max(begin + 1, int(np.searchsorted(load, before + TOGETHER)))
            places, where = np.unique(
                np.concatenate([left[begin:end], right[begin:end]]), return_inverse=True
            )
            some = end - begin
            found[begin:end] = stage.verify(self._taken(places), where[:some], where[some:])
            begin = end
        return found

    def _taken(self, places: Rows) -> pa.Array:
        cuts = np.searchsorted(places, self._first)
        taken = [
            part.take(pa.array(places[low:high] - first))
            for part, first, low, high in zip(
                self._parts, self._first, cuts, cuts[1:], strict=False
            )
            if low < high
        ]
        return pa.concat_arrays(taken)


def _sizes(details: pa.Array) -> np.ndarray:
    """Bytes of each detail, roughly."""
    if pa.types.is_large_list(details.type):
        lengths = pc.list_value_length(details).to_numpy(zero_copy_only=False)
        return np.asarray(lengths, dtype=np.int64) * 8
    return np.full(len(details), max(details.nbytes // max(len(details), 1), 1), dtype=np.int64)
