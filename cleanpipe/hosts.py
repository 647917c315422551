"""What became of the documents of each host: for the guard that sees one lost as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from xxhash import xxh3_64_intdigest

from cleanpipe import ipc
from cleanpipe.barrier.rows import run_parts, write_run
from cleanpipe.batch import TEXT, Batch
from cleanpipe.job import Job
from cleanpipe.scratch import hosts_name

HOSTS = pa.schema([("host", TEXT), ("stage", pa.int64()), ("documents", pa.int64())])
_URL = r"^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?(?P<host>\[[^\]]*\]|[^/?#:]+)"


def host_of(url: pa.Array) -> pa.Array:
    """The host of each URL, in lower case; null where there is none."""
    return pc.utf8_lower(pc.struct_field(pc.extract_regex(url, _URL), "host"))


class HostCounts:
    """Counts the documents of one shard by host and by the stage that dropped them."""

    def __init__(self, job: Job) -> None:
        self._places = {step.name: place for place, step in enumerate(job.plan.steps)}
        self._tables: list[pa.Table] = []

    def add(self, batch: Batch) -> None:
        """Count a batch whose verdicts are final."""
        if batch.url.null_count == len(batch):
            return
        stage = np.full(len(batch), len(self._places), dtype=np.int64)  # kept
        for row, drop in batch.drops.items():
            stage[row] = self._places.get(drop.stage, len(self._places))
        table = pa.table({"host": host_of(batch.url).cast(TEXT), "stage": stage})
        self._tables.append(
            _counted(table.append_column("documents", pa.array(np.ones_like(stage))))
        )
        if len(self._tables) == 64:
            self._tables = [_counted(pa.concat_tables(self._tables))]

    def save(self, job: Job, shard: int) -> str | None:
        """Write them, for the partitions; the file's name, or None where there are none."""
        if not self._tables:
            return None
        table = _counted(pa.concat_tables(self._tables))
        part = _partition(table.column("host"), job.partitions)
        order = np.argsort(part, kind="stable")
        name = hosts_name(shard)
        with ipc.create(job.scratch, name, HOSTS) as writer:
            cuts = np.searchsorted(part[order], np.arange(1, job.partitions))
            write_run(writer, table.take(order), cuts)
        return name


def _counted(table: pa.Table) -> pa.Table:
    known = table.filter(pc.is_valid(table.column("host")))
    sums = known.group_by(["host", "stage"], use_threads=False).aggregate([("documents", "sum")])
    return sums.rename_columns(["host", "stage", "documents"]).select(HOSTS.names).cast(HOSTS)


def _partition(hosts: pa.ChunkedArray, partitions: int) -> np.ndarray:
    """Where each host is counted, the same everywhere."""
    return np.array(
        [xxh3_64_intdigest(host.encode()) % partitions for host in hosts.to_pylist()],
        dtype=np.int64,
    )


def lost(
    job: Job, partition: int, shards: Sequence[int], documents: int, share: float
) -> list[dict[str, Any]]:
    """Hosts of at least ``documents`` documents that lose over ``share`` of what reaches a stage
    in that stage, of one partition."""
    tables = [HOSTS.empty_table()]
    for shard in shards:
        if job.scratch.exists(hosts_name(shard)):
            parts = run_parts(job.scratch, hosts_name(shard), job.partitions, partition)
            tables += [pa.Table.from_batches([part]) for part in parts]
    table = _counted(pa.concat_tables(tables)).sort_by(
        [("host", "ascending"), ("stage", "ascending")]
    )
    names = [step.name for step in job.plan.steps]
    counts: dict[str, list[tuple[int, int]]] = {}
    totals = table.group_by("host", use_threads=False).aggregate([("documents", "sum")])
    large = totals.filter(pc.greater_equal(totals.column("documents_sum"), documents))
    table = table.filter(pc.is_in(table.column("host"), large.column("host").combine_chunks()))
    for row in table.to_pylist():
        counts.setdefault(row["host"], []).append((row["stage"], row["documents"]))
    found = []
    for host, stages in counts.items():
        reached = sum(number for _, number in stages)
        for stage, number in stages:
            if stage < len(names) and reached >= documents and number > share * reached:
                found.append(
                    {"host": host, "stage": names[stage], "lost": number, "reached": reached}
                )
            reached -= number
    return found
