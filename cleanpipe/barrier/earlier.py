"""Survivors of earlier runs: what the other tasks find of a shard, made from a part of a run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe import ipc
from cleanpipe.barrier.rows import NAMES, NUMBERED, barrier_stage, column
from cleanpipe.barrier.sketches import Buckets
from cleanpipe.batch import TEXT
from cleanpipe.errors import ConfigError
from cleanpipe.job import Job
from cleanpipe.ledger import Record
from cleanpipe.phase import blamed
from cleanpipe.scratch import spool_name
from cleanpipe.spec import Step
from cleanpipe.stage import Rows
from cleanpipe.store import Store

_LINES = 1000  # of JSON that are taken together


def sketch(job: Job, phase: int, shard: int, record: Record) -> None:
    """Write bucket rows and names of the survivors of one part.

    Names are by place, as those of a shard; where there is no survivor they are null.
    """
    numbered = [NUMBERED.empty_table()]
    with ExitStack() as stack:
        for place, step in enumerate(job.plan.phases[phase].barrier):
            start = time.perf_counter()
            stage = barrier_stage(step)
            buckets = Buckets(job, phase, place, shard, stack)
            for table in _index(job, shard, step, [*NUMBERED.names, *stage.payload.names]):
                numbered.append(table.select(NUMBERED.names).cast(NUMBERED))
                with blamed(step):
                    found = stage.buckets(table.select(stage.payload.names))
                buckets.add(column(table, "document").astype(np.int64), found)
            buckets.finish()
            record.files[f"scratch:{buckets.name}"] = 0
            record.stats.stage(step.name).seconds += time.perf_counter() - start
    table = pa.concat_tables(numbered)
    documents, rows = np.unique(column(table, "document"), return_index=True)
    size = int(documents[-1]) + 1 if len(documents) else 0
    places = np.zeros(size, dtype=np.int64)
    places[documents] = rows
    there = np.zeros(size, dtype=np.bool_)
    there[documents] = True
    names = spool_name(phase, "names", shard)
    with ipc.create(job.scratch, names, NAMES) as writer:
        writer.write_table(table.select(NAMES.names).take(pa.array(places, mask=~there)))
    record.files[f"scratch:{names}"] = 0
    record.data["documents"] = size


def _index(job: Job, shard: int, step: Step, columns: list[str]) -> Iterator[pa.Table]:
    """What a part of an earlier run has of the survivors of a stage."""
    run, part = job.plan.earlier_parts[shard]
    if step.name in run.indexes:
        name = f"index/{run.indexes[step.name]}/part-{part:05d}.parquet"
        try:
            for table in Store(run.path).row_groups(name, columns):
                yield table.select(columns)
        except (pa.ArrowException, OSError, KeyError) as error:
            raise ConfigError(
                f"{run.path}/{name}: {error}; run {run.written} again to write it anew"
            ) from None


def payload(job: Job, phase: int, place: int, shard: int, wanted: Rows) -> pa.Table:
    """``document`` and the payload of some survivors of one part, given by their places."""
    step = job.plan.phases[phase].barrier[place]
    schema = pa.schema([("document", pa.int64()), *barrier_stage(step).payload])
    tables = [schema.empty_table()]
    for table in _index(job, shard, step, schema.names):
        chosen = np.isin(column(table, "document"), wanted)
        tables.append(table.filter(pa.array(chosen)).cast(schema))
    return pa.concat_tables(tables)


def texts(
    job: Job, phase: int, shard: int, wanted: Rows
) -> Iterator[tuple[Rows, pa.LargeStringArray]]:
    """The texts of some survivors of one part, batch by batch, from its kept files.

    Errors: ConfigError where they are not all there.
    """
    run, part = job.plan.earlier_parts[shard]
    names = ipc.open_file(job.scratch, spool_name(phase, "names", shard)).read_all()
    keys = _keys(names["file"], names["row"]).take(pa.array(wanted))
    left = len(wanted)
    store = Store(run.path)
    stem = f"part-{part:05d}-"
    try:
        for name in store.names("kept"):
            if not name.startswith(stem):
                continue
            read = _json_lines if run.suffix == "jsonl" else _parquet
            for file, row, text in read(store, f"kept/{name}"):
                place = pc.index_in(_keys(file, row), value_set=keys)
                found = place.is_valid()
                left -= found.true_count
                if found.true_count:
                    yield wanted[place.drop_null().to_numpy()], text.filter(found)
    except (OSError, pa.ArrowInvalid, msgspec.DecodeError, KeyError) as error:
        raise ConfigError(_gone(run.written, str(error))) from error
    if left:
        raise ConfigError(_gone(run.written, f"{left} of the documents in its index are not there"))


def _gone(written: str, what: str) -> str:
    return (
        f"{written}: kept/ is not what its run left ({what}), but texts are read to verify "
        "similarities: bring it back, or write verify: signature"
    )


def _keys(file: pa.Array | pa.ChunkedArray, row: pa.Array | pa.ChunkedArray) -> pa.Array:
    keys = pc.binary_join_element_wise(row.cast(TEXT), file, pa.scalar(":", TEXT))
    return keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys


_Texts = Iterator[tuple[pa.Array, pa.Array, pa.LargeStringArray]]


def _parquet(store: Store, name: str) -> _Texts:
    """File, row and text of kept documents."""
    columns = ["text", "cleanpipe.file", "cleanpipe.row"]
    for table in store.row_groups(name, columns):
        lineage = table["cleanpipe"].combine_chunks()
        yield lineage.field("file"), lineage.field("row"), table["text"].combine_chunks()


class _Lineage(msgspec.Struct):
    file: str
    row: int


class _Kept(msgspec.Struct):
    text: str
    cleanpipe: _Lineage


def _json_lines(store: Store, name: str) -> _Texts:
    """File, row and text of kept documents."""
    decoder = msgspec.json.Decoder(_Kept)
    with store.open(name) as file:
        while lines := list(islice(file, _LINES)):
            kept: Sequence[_Kept] = [decoder.decode(line) for line in lines]
            yield (
                pa.array([each.cleanpipe.file for each in kept], TEXT),
                pa.array([each.cleanpipe.row for each in kept], pa.int64()),
                pa.array([each.text for each in kept], TEXT),
            )
