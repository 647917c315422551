"""How the reader tests read: a file's content in, every document and dead record out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cleanpipe.columns import Columns
from cleanpipe.readers import Dead, ReadBatch, read
from cleanpipe.schema import output_columns
from cleanpipe.shards import count_lines, discover, needs_scan, split, with_rows
from cleanpipe.sources import Source


@dataclass
class Reading:
    """All that came of a source."""

    columns: Columns
    batches: list[ReadBatch] = field(default_factory=list)

    @property
    def documents(self) -> list[dict[str, Any]]:
        """One dictionary a document: row, id, url, text and the columns passed through."""
        found = []
        for batch in self.batches:
            passed = [pa.Table.from_batches([batch.columns]).to_pylist()][0] or [{}]
            rows = pa.Table.from_batches([batch.table]).to_pylist()
            assert batch.columns.schema == self.columns.schema
            assert not batch.columns.schema.names or len(passed) == len(rows) or not rows
            for place, row in enumerate(rows):
                others = passed[place] if batch.columns.schema.names else {}
                found.append(row | {key: value for key, value in others.items() if key != "url"})
        return found

    @property
    def texts(self) -> list[str]:
        return [document["text"] for document in self.documents]

    @property
    def dead(self) -> list[Dead]:
        return [dead for batch in self.batches for dead in batch.dead]

    @property
    def reasons(self) -> list[tuple[str, int | None]]:
        return [(dead.reason, dead.row) for dead in self.dead]

    @property
    def replaced(self) -> int:
        return sum(batch.replaced for batch in self.batches)

    @property
    def misfits(self) -> int:
        return sum(batch.misfits for batch in self.batches)


def read_source(source: Source, shard_bytes: int, batch_bytes: int) -> Reading:
    files = discover([source])
    reading = Reading(output_columns([source], files))
    shards = split(files, shard_bytes)
    pieces = [piece for shard in shards for piece in shard.pieces]
    counts = {(p.file.index, p.start): count_lines(p) for p in pieces if needs_scan(p)}
    for shard in with_rows(shards, counts):
        for piece in shard.pieces:
            reading.batches += read(piece, source, reading.columns, batch_bytes)
    return reading


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Reading]:
    """``load(name, content, ...)`` writes one file and reads it as source ``s``."""

    def load(
        name: str,
        content: bytes | pa.Table,
        shard_bytes: int = 1 << 30,
        batch_bytes: int = 8 << 20,
        **options: Any,
    ) -> Reading:
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif name.endswith(".parquet"):
            pq.write_table(content, path, row_group_size=100, write_page_checksum=True)
        else:
            with pa.ipc.new_file(path, content.schema) as writer:
                writer.write_table(content, max_chunksize=100)
        return read_source(Source("s", (name,), str(tmp_path), **options), shard_bytes, batch_bytes)

    return load
