"""Decompression: members, frames, and files that break off."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from cleanpipe.errors import RunError
from cleanpipe.readers import read
from cleanpipe.readers.files import Broken, stream
from cleanpipe.readers.inputs import InputFile
from cleanpipe.schema import output_columns
from cleanpipe.shards import discover, split
from cleanpipe.sources import Source

Load = Callable[..., Any]
Pack = Callable[[bytes], bytes]


def zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="zstd", asbytes=True))


PACKERS = [pytest.param(gzip.compress, ".gz", id="gzip"), pytest.param(zstd, ".zst", id="zstd")]
_random = random.Random(1)
CONTENT = b"".join(
    b'{"text": "%d", "id": %d}\n' % (_random.getrandbits(200), row) for row in range(30_000)
)


def _all(path: Path, compression: Any) -> tuple[bytes, str | None, str]:
    file = InputFile(0, "s", "f", str(path), "jsonl", compression, path.stat().st_size, "", True)
    data = b""
    try:
        for chunk in stream(file):
            assert 0 < len(chunk) <= 1 << 20
            data += chunk
    except Broken as error:
        return data, error.reason, error.message
    return data, None, ""


@pytest.mark.parametrize(("pack", "end"), PACKERS)
@pytest.mark.parametrize("size", [0, 1, 1 << 20, (1 << 20) + 1, 3_000_000])
def test_whole_files(tmp_path: Path, pack: Pack, end: str, size: int) -> None:
    path = tmp_path / "f"
    kind = "gzip" if end == ".gz" else "zstd"
    for data in (CONTENT * 3)[:size], b"\0" * size:
        path.write_bytes(pack(data))
        assert _all(path, kind) == (data, None, "")
        path.write_bytes(pack(data) + pack(b"") + pack(b"second") + pack(data))
        assert _all(path, kind) == (data + b"second" + data, None, "")


def test_gzip_may_be_padded(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(gzip.compress(b"a") + b"\0" * 100 + gzip.compress(b"b") + b"\0" * 70_000)
    assert _all(path, "gzip") == (b"ab", None, "")


@pytest.mark.parametrize(("pack", "end"), PACKERS)
def test_broken_files_give_what_stands_before(tmp_path: Path, pack: Pack, end: str) -> None:
    path = tmp_path / "f"
    kind = "gzip" if end == ".gz" else "zstd"
    packed = pack(CONTENT)
    for keep in (0, 1, 5, 12, 1000, len(packed) // 2, len(packed) - 1):
        path.write_bytes(packed[:keep])
        data, reason, _ = _all(path, kind)
        assert reason == "truncated"
        assert CONTENT.startswith(data)
        assert len(data) >= len(CONTENT) * keep / len(packed) - 300_000
    for garbage in (b"garbage", b"x", b"\x1f\x8b", b"\0\0\0\0more"):
        path.write_bytes(packed + garbage)
        data, reason, _ = _all(path, kind)
        assert (len(data), reason) == (len(CONTENT), "truncated")
    damaged = bytearray(packed)
    damaged[len(packed) // 2 :] = _random.randbytes(len(packed) - len(packed) // 2)
    path.write_bytes(bytes(damaged))
    data, reason, message = _all(path, kind)
    assert reason == "unreadable" and message
    shared = next(
        (place for place, (a, b) in enumerate(zip(data, CONTENT, strict=False)) if a != b),
        len(data),
    )
    assert shared > len(CONTENT) // 3
    path.write_bytes(b"this is plain text")
    assert _all(path, kind)[:2] == (b"", "unreadable")


@pytest.mark.parametrize(("pack", "end"), PACKERS)
def test_a_break_is_one_dead_record(load: Load, pack: Pack, end: str) -> None:
    packed = pack(CONTENT)
    reading = load(f"a.jsonl{end}", packed[: len(packed) // 2])
    rows = len(reading.documents)
    assert rows > 10_000
    assert [d["id"] for d in reading.documents] == [str(row) for row in range(rows)]
    [dead] = reading.dead
    assert (dead.reason, dead.row) == ("truncated", rows)
    start = sum(len(line) + 1 for line in CONTENT.split(b"\n")[:rows])
    assert CONTENT[start:].startswith(dead.raw)
    assert dead.offset == start + len(dead.raw)
    assert load(f"a.jsonl{end}", packed[: len(packed) // 2], batch_bytes=100).dead == [dead]


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst", "a.txt.gz"])
def test_an_empty_file_of_a_format_with_a_header_is_dead(load: Load, name: str) -> None:
    assert load(name, b"").reasons == [("truncated", 0)]


def test_an_empty_plain_file_has_no_documents(load: Load) -> None:
    for content in (b"", b"\n", b"\n \n", b"\xef\xbb\xbf"):
        reading = load("a.jsonl", content)
        assert (reading.documents, reading.dead) == ([], [])


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.parquet", "a.arrow"])
def test_a_file_that_went_away_fails_the_run(tmp_path: Path, name: str) -> None:
    """A dead record for it would make the output depend on the machine's mood."""
    table = pa.table({"text": ["a"]})
    path = tmp_path / name
    line = b'{"text": "a"}\n'
    if name.endswith(".parquet"):
        pq.write_table(table, path)
    elif name.endswith(".arrow"):
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    else:
        path.write_bytes({"gz": gzip.compress, "zst": zstd}.get(name[-3:].strip("."), bytes)(line))
    source = Source("s", (name,), str(tmp_path))
    files = discover([source])
    columns = output_columns([source], files)
    [shard] = split(files, 1 << 20)
    assert [b.table.num_rows for b in read(shard.pieces[0], source, columns, 100)] == [1]
    path.unlink()
    with pytest.raises(RunError, match="cannot be opened"):
        list(read(shard.pieces[0], source, columns, 100))


class _Flaky:
    """A remote file whose middle cannot be read; a footer can."""

    def __init__(self, raw: Any, size: int) -> None:
        self.raw, self.size = raw, size

    def read(self, size: int = -1) -> bytes:
        if self.size // 3 < self.raw.tell() < self.size * 9 // 10:
            raise ConnectionError("reset by peer")
        return bytes(self.raw.read(size))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.parquet", "a.arrow"])
def test_a_connection_that_breaks_fails_the_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = fsspec.filesystem("memory")
    table = pa.table({"text": [str(_random.getrandbits(200)) for _ in range(50_000)]})
    sink = io.BytesIO()
    if name.endswith(".parquet"):
        pq.write_table(table, sink, row_group_size=10_000)
    elif name.endswith(".arrow"):
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=1000)
    else:
        pack = {"gz": gzip.compress, "zst": zstd}.get(name[-3:].strip("."), bytes)
        sink.write(pack(CONTENT))
    memory.pipe(f"/broken/{name}", sink.getvalue())
    source = Source("s", (f"memory://broken/{name}",))
    files = discover([source])
    columns = output_columns([source], files)
    [shard] = split(files, 1 << 30)
    count = sum(b.table.num_rows for b in read(shard.pieces[0], source, columns, 1 << 20))
    assert count == (30_000 if "jsonl" in name else 50_000)
    whole = MemoryFileSystem.open

    def broken(self: Any, *arguments: Any, **options: Any) -> Any:
        return _Flaky(whole(self, *arguments, **options), files[0].size)

    monkeypatch.setattr(MemoryFileSystem, "open", broken)
    with pytest.raises(RunError, match="reset by peer"):
        list(read(shard.pieces[0], source, columns, 1 << 20))
