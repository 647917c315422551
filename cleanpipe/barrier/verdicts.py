"""Applies what a barrier decided to the documents of one shard."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from cleanpipe import ipc
from cleanpipe.barrier.rows import NUMBERED, VERDICTS, barrier_stage, column, load_bases
from cleanpipe.batch import Batch, Drop
from cleanpipe.job import Job
from cleanpipe.ledger import Record
from cleanpipe.phase import count_losses
from cleanpipe.scratch import clusters_name, payload_name, spool_name, verdicts_name
from cleanpipe.stage import Rows
from cleanpipe.stats import Stats
from cleanpipe.writers import PartWriter

SHOWN = 10
"""Documents of a cluster whose survivor's text is shown: reading it costs little beside them."""
LARGEST = 20
"""Clusters that a shard reports, the largest of its survivors'."""


class Verdicts:
    """What a barrier decided about the documents of one shard."""

    def __init__(self, job: Job, phase: int, shard: int) -> None:
        self._job, self._phase, self._shard = job, phase, shard
        self._steps = job.plan.phases[phase].barrier
        self._bases = load_bases(job.scratch, phase)
        table = self._mine(verdicts_name(phase), "later").sort_by("later")
        self._places = table.column("later").to_numpy() - self._bases.of(shard)[0]
        self._survivors = table.column("earlier").to_numpy()
        self._similarity = table.column("similarity").to_numpy()
        self._rule = table.column("rule").to_numpy()
        self._names = self._survivor_names()
        self._seen = 0
        self._kept: list[Rows] = []

    def _mine(self, name: str, key: str) -> pa.Table:
        """The rows whose ``key`` is a document of this shard."""
        return _rows(self._job, name, key, self._bases.of(self._shard))

    def _survivor_names(self) -> list[dict[str, object]]:
        """File, row, id and run of each verdict's survivor, looked up in its shard."""
        names: list[dict[str, object]] = [{}] * len(self._survivors)
        shards = self._bases.shard_of(self._survivors)
        for shard in np.unique(shards).tolist():
            chosen = np.flatnonzero(shards == shard)
            local = self._survivors[chosen] - self._bases.of(shard)[0]
            found = _named(self._job, self._phase, shard, local)
            for place, name in zip(chosen.tolist(), found, strict=True):
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
                barrier_stage(step).measure_name,
                similarity=float(self._similarity[place]),
                survivor_id=str(name["id"]),
                survivor_file=str(name["file"]),
                survivor_row=int(str(name["row"])),
                survivor_run=str(name["run"]) if "run" in name else None,
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
        """Write the survivors' payloads, for later runs to compare with."""
        kept = np.concatenate(self._kept) if self._kept else np.zeros(0, dtype=np.int64)
        names = ipc.open_file(
            self._job.scratch, spool_name(self._phase, "names", self._shard)
        ).read_all()
        for place, step in enumerate(self._steps):
            payload = barrier_stage(step).payload
            schema = pa.schema([*NUMBERED, *payload])
            stem = f"index/{step.name}/part-{self._shard:05d}"
            with PartWriter(self._job.output, stem, schema) as writer:
                name = payload_name(self._phase, place, self._shard)
                for part in ipc.batches(self._job.scratch, name):
                    rows = pa.array(np.flatnonzero(np.isin(column(part, "document"), kept)))
                    found = names.take(part.column("document").take(rows))
                    columns = [*found.columns, *(c.take(rows) for c in part.columns)]
                    writer.write(pa.table(columns, schema=schema))
            record.files.update(dict.fromkeys(writer.files, 0))


def largest(clusters: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The largest of these clusters, the largest first."""
    return sorted(clusters, key=lambda cluster: -cluster["documents"])[:LARGEST]


def clusters(job: Job, phase: int, shard: int) -> list[dict[str, Any]]:
    """The largest clusters that name a survivor of a shard, the largest first."""
    bases = load_bases(job.scratch, phase)
    table = _rows(job, clusters_name(phase), "earlier", bases.of(shard))
    survivors, where, sizes = np.unique(
        column(table, "earlier"), return_inverse=True, return_counts=True
    )
    chosen = np.lexsort((survivors, -sizes))[:LARGEST]
    places = survivors[chosen] - bases.of(shard)[0]
    names = _named(job, phase, shard, places)
    large = sizes[chosen] >= SHOWN
    texts = _beginnings(job, phase, shard, places[large]) if shard >= 0 else {}
    found = []
    for place, local, name in zip(chosen.tolist(), places.tolist(), names, strict=True):
        members = np.flatnonzero(where == place)
        similarity = column(table, "similarity")[members]
        rules = np.unique(column(table, "rule")[members]).tolist()
        found.append(
            {
                "survivor": name,
                "documents": int(sizes[place]),
                "text": texts.get(local),
                "similarity": [float(similarity.min()), float(similarity.max())],
                "stages": [job.plan.phases[phase].barrier[rule].name for rule in rules],
            }
        )
    return found


def _beginnings(job: Job, phase: int, shard: int, documents: Rows) -> dict[int, str]:
    """The first 200 characters of documents, by their places in a shard."""
    names = ipc.batches(job.scratch, spool_name(phase, "names", shard))
    first = np.cumsum([0, *(batch.num_rows for batch in names)])
    batch = np.searchsorted(first, documents, side="right") - 1
    found: dict[int, str] = {}
    if len(documents):
        file = ipc.open_file(job.scratch, spool_name(phase, "documents", shard))
        for number in np.unique(batch).tolist():
            mine = documents[batch == number]
            text = file.get_batch(number).column("text").take(pa.array(mine - first[number]))
            shown = (" ".join(str(one).split())[:200] for one in text.to_pylist())
            found.update(zip(mine.tolist(), shown, strict=True))
    return found


def _rows(job: Job, name: str, key: str, numbers: tuple[int, int]) -> pa.Table:
    """The verdicts whose ``key`` is in a range of numbers."""
    parts = [VERDICTS.empty_table()]
    for batch in ipc.batches(job.scratch, name):
        low, high = np.searchsorted(column(batch, key), numbers)
        parts.append(pa.Table.from_batches([batch.slice(low, high - low)]))
    return pa.concat_tables(parts)


def _named(job: Job, phase: int, shard: int, documents: Rows) -> list[dict[str, object]]:
    """File, row and id of documents by their places in a shard; of an earlier run also ``run``."""
    names = ipc.open_file(job.scratch, spool_name(phase, "names", shard)).read_all()
    found: list[dict[str, object]] = names.take(pa.array(documents)).to_pylist()
    run = {"run": job.plan.earlier_parts[shard][0].written} if shard < 0 else {}
    return [{**name, **run} for name in found]
