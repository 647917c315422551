"""Files in source order, and shards that depend on nothing but them and ``shard_bytes``."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cleanpipe.errors import ConfigError
from cleanpipe.shards import (
    InputFile,
    Piece,
    Shard,
    count_lines,
    discover,
    needs_scan,
    split,
    with_rows,
)
from cleanpipe.sources import Source


def _write(folder: Path, files: Mapping[str, bytes] | Sequence[str]) -> None:
    for name in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files[name] if isinstance(files, Mapping) else b'{"text": "a"}\n')


TREE = [
    "b.jsonl",
    "a.jsonl.gz",
    "B.ndjson",
    "é.json",
    "a b.jsonl.zst",
    "notes.md",
    "_SUCCESS",
    ".hidden.jsonl",
    "_run/x.jsonl",
    "sub/z.jsonl",
    "sub/deep/y.jsonl",
    "sub/.git/w.jsonl",
]

PATTERNS = [
    (["b.jsonl"], ["b.jsonl"]),
    (["./b.jsonl"], ["./b.jsonl"]),
    (["*.jsonl", "sub/*.jsonl"], ["b.jsonl", "sub/z.jsonl"]),
    (["*.jsonl.*"], ["a b.jsonl.zst", "a.jsonl.gz"]),
    (["[ab]*.jsonl*"], ["a b.jsonl.zst", "a.jsonl.gz", "b.jsonl"]),
    (["**/*.jsonl"], ["b.jsonl", "sub/deep/y.jsonl", "sub/z.jsonl"]),
    (["sub"], ["sub/deep/y.jsonl", "sub/z.jsonl"]),
    (["s*b/"], ["sub/deep/y.jsonl", "sub/z.jsonl"]),
    (["_run/*.jsonl"], ["_run/x.jsonl"]),
    (["_run"], ["_run/x.jsonl"]),
    ([".hidden.jsonl"], [".hidden.jsonl"]),
    (["sub/../b.jsonl"], ["sub/../b.jsonl"]),
    (
        ["."],
        [
            "./B.ndjson",
            "./a b.jsonl.zst",
            "./a.jsonl.gz",
            "./b.jsonl",
            "./sub/deep/y.jsonl",
            "./sub/z.jsonl",
            "./é.json",
        ],
    ),
]


@pytest.mark.parametrize(("patterns", "expected"), PATTERNS)
def test_files_in_order(tmp_path: Path, patterns: list[str], expected: list[str]) -> None:
    _write(tmp_path, TREE)
    files = discover([Source("s", tuple(patterns), str(tmp_path))])
    assert [file.file for file in files] == expected
    assert [file.index for file in files] == list(range(len(expected)))
    for file in files:
        assert os.path.isabs(file.location) and os.path.exists(file.location)
        assert file.size == os.path.getsize(file.location)
    # absolute patterns and file:// URLs keep their form
    first = expected[0]
    absolute = str(tmp_path / first) if first.startswith("b") else str(tmp_path / "b.jsonl")
    for name in (absolute, f"file://{absolute}"):
        [file] = discover([Source("s", (name,), "/")])
        assert (file.file, file.location) == (name, absolute)


def test_a_name_with_magic_characters_is_itself(tmp_path: Path) -> None:
    _write(tmp_path, ["a[1].jsonl", "a1.jsonl"])
    [file] = discover([Source("s", ("a[1].jsonl",), str(tmp_path))])
    assert file.file == "a[1].jsonl"


NAMES = [
    ("a.jsonl", "jsonl", None, True),
    ("a.ndjson", "jsonl", None, True),
    ("a.JSON", "jsonl", None, True),
    ("a.jsonl.gz", "jsonl", "gzip", True),
    ("a.json.zst", "jsonl", "zstd", True),
    ("a.parquet", "parquet", None, False),
    ("a.arrow", "arrow", None, False),
    ("a.ipc", "arrow", None, False),
    ("a.feather", "arrow", None, False),
    ("a.txt", "text", None, False),
    ("a.txt.gz", "text", "gzip", False),
]


@pytest.mark.parametrize(("name", "kind", "compression", "by_line"), NAMES)
def test_names_say_formats(
    tmp_path: Path, name: str, kind: str, compression: str | None, by_line: bool
) -> None:
    _write(tmp_path, [name])
    [file] = discover([Source("s", (name,), str(tmp_path))])
    assert (file.format, file.compression, file.by_line) == (kind, compression, by_line)


def test_formats_and_stamps(tmp_path: Path) -> None:
    _write(tmp_path, ["a.data.gz", "x/b", "x/c.txt"])
    source = Source("s", ("a.data.gz", "x"), str(tmp_path), format="text", document="line")
    files = discover([source])
    assert [(f.file, f.format, f.compression, f.by_line) for f in files] == [
        ("a.data.gz", "text", "gzip", True),
        ("x/b", "text", None, True),
        ("x/c.txt", "text", None, True),
    ]
    os.utime(tmp_path / "x/b", ns=(1, 1))
    assert discover([source])[1].stamp == "1" != files[1].stamp


def test_all_faults_at_once(tmp_path: Path) -> None:
    _write(tmp_path, [*TREE, "x.bz2", "y.jsonl.xz", "empty/notes.md"])
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "b.jsonl")
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    sources = [
        Source("one", ("b.jsonl", "nothing*.jsonl", "none.jsonl"), str(tmp_path)),
        Source("two", ("*.md", "b.jsonl", "link.jsonl", "empty"), str(tmp_path)),
        Source("three", ("y.jsonl.xz", "gone.jsonl", "memory://none/*.jsonl"), str(tmp_path)),
        Source("four", ("sub/z.jsonl", "sub", "no-such-thing://x/*.jsonl"), str(tmp_path)),
    ]
    with pytest.raises(ConfigError) as caught:
        discover(sources)
    found = [(fault.path, fault.message) for fault in caught.value.faults]
    expected = [
        ("sources.four.paths", "`sub/z.jsonl` is read twice"),
        ("sources.four.paths", "cannot look up `no-such-thing://x/*.jsonl`"),
        ("sources.one.paths", "`none.jsonl` matches no file"),
        ("sources.one.paths", "`nothing*.jsonl` matches no file"),
        ("sources.three.paths", "`memory://none/*.jsonl` matches no file"),
        ("sources.three.paths", "`y.jsonl.xz` is compressed in a way no reader knows"),
        ("sources.three.paths", "cannot look up `gone.jsonl`"),
        ("sources.two.paths", "`b.jsonl` is read twice: also as `b.jsonl` of source `one`"),
        ("sources.two.paths", "`link.jsonl` is read twice: also as `b.jsonl` of source `one`"),
        ("sources.two.paths", "the folder `empty` has no file that a reader knows"),
        ("sources.two.paths", "the name says no format: `notes.md`"),
    ]
    assert len(found) == len(expected), found
    for (place, message), (path, start) in zip(sorted(found), expected, strict=True):
        assert place == path and message.startswith(start), (message, start)


def test_an_unreadable_file_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path, ["a.jsonl"])
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may read everything
    with pytest.raises(ConfigError, match="may not be read"):
        discover([Source("s", ("a.jsonl",), str(tmp_path))])


def test_urls_stay_as_the_pattern_has_them() -> None:
    memory = fsspec.filesystem("memory")
    for name in ("a.jsonl", "b.jsonl.gz", "_x.jsonl", "in/c.jsonl", "README"):
        memory.pipe(f"/shards/{name}", b"x" * 7)
    files = discover([Source("s", ("memory://shards/*.jsonl*", "memory://shards/in"))])
    assert [(file.file, file.location, file.size) for file in files] == [
        ("memory://shards/a.jsonl",) * 2 + (7,),
        ("memory://shards/b.jsonl.gz",) * 2 + (7,),
        ("memory://shards/in/c.jsonl",) * 2 + (7,),
    ]
    before = files[0].stamp
    memory.pipe("/shards/a.jsonl", b"y" * 7)
    [again] = discover([Source("s", ("memory:///shards/a.jsonl",))])
    assert again.file == "memory:///shards/a.jsonl"
    assert again.stamp != before
    with pytest.raises(ConfigError, match="read twice"):
        discover([Source("s", ("memory://shards/a.jsonl", "memory:///shards/a.jsonl"))])


def _file(index: int, size: int, source: str = "s", **options: object) -> InputFile:
    defaults = {"format": "jsonl", "compression": None, "by_line": True}
    return InputFile(
        index,
        source,
        f"{index}",
        f"/{index}",
        size=size,
        stamp="",
        **(defaults | options),  # type: ignore[arg-type]
    )


def _shown(shards: Sequence[Shard]) -> list[list[tuple[int, int, int]]]:
    assert [shard.index for shard in shards] == list(range(len(shards)))
    return [[(p.file.index, p.start, p.stop) for p in shard.pieces] for shard in shards]


def test_small_files_run_together_and_large_ones_are_cut() -> None:
    files = [
        _file(0, 40),
        _file(1, 60),
        _file(2, 1),
        _file(3, 250),
        _file(4, 0),
        _file(5, 25, compression="gzip"),
        _file(6, 24, compression="zstd"),
        _file(7, 4),
        _file(8, 5, source="t"),
        _file(9, 1000, source="t", format="text", by_line=False),
        _file(10, 99, source="t", format="text", by_line=False),
    ]
    assert _shown(split(files, 100)) == [
        [(0, 0, 40), (1, 0, 60)],
        [(2, 0, 1)],
        [(3, 0, 83)],
        [(3, 83, 166)],
        [(3, 166, 250)],
        [(4, 0, 0)],
        [(5, 0, 1)],  # counts four times: as large as a shard
        [(6, 0, 1), (7, 0, 4)],
        [(8, 0, 5)],
        [(9, 0, 1)],
        [(10, 0, 1)],
    ]
    with pytest.raises(ValueError, match="shard_bytes"):
        split(files, 0)


def test_parquet_is_cut_at_row_groups(tmp_path: Path) -> None:
    table = pa.table({"text": [f"{row:08d}" * 10 for row in range(1000)]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=100, compression="none")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 not really PAR1")
    pq.write_table(table.slice(0, 0), tmp_path / "c.parquet")
    files = discover([Source("s", ("*.parquet",), str(tmp_path))])
    footer = pq.ParquetFile(tmp_path / "a.parquet").metadata
    size = footer.row_group(0).total_byte_size
    shards = split(files, size * 3 + size // 2)
    pieces = [[(p.start, p.stop, p.first_row, p.rows, p.last) for p in s.pieces] for s in shards]
    assert pieces == [
        [(0, 3, 0, 300, False)],
        [(3, 6, 300, 300, False)],
        [(6, 9, 600, 300, False)],
        [(9, 10, 900, 100, True)],
        [(0, 0, 0, 0, True), (0, 1, 0, 0, True)],
    ]
    assert not any(needs_scan(piece) for shard in shards for piece in shard.pieces)
    assert len(split(files, 1)) == 12
    assert len(split(files, 1 << 30)) == 1


def test_arrow_files_are_cut_at_record_batches(tmp_path: Path) -> None:
    table = pa.table({"text": [f"{row:08d}" * 10 for row in range(1050)]})
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=100)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=100)
    (tmp_path / "b.arrow").write_bytes(sink.getvalue())
    (tmp_path / "c.arrow").write_bytes(b"ARROW1 not really")
    files = discover([Source("s", ("*.arrow",), str(tmp_path))])
    shards = split(files, files[0].size // 4 + 1)
    assert _shown(shards)[:5] == [
        [(0, 0, 2)],
        [(0, 2, 5)],
        [(0, 5, 8)],
        [(0, 8, 11)],
        [(1, 0, 1)],
    ]
    assert _shown(shards)[5:] == [[(2, 0, 1)]]
    pieces = [piece for shard in shards for piece in shard.pieces]
    counts = {(p.file.index, p.start): count_lines(p) for p in pieces if needs_scan(p)}
    assert counts == {(0, 0): 200, (0, 2): 300, (0, 5): 300}
    firsts = [p.first_row for shard in with_rows(shards, counts) for p in shard.pieces]
    assert firsts == [0, 200, 500, 800, 0, 0]


LINES = st.lists(st.sampled_from([b"", b"x", b"\r", b"yy", b"z" * 50]), max_size=30)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LINES, st.integers(1, 100))
def test_the_scan_counts_every_line_once(
    tmp_path: Path, content: list[bytes], shard_bytes: int
) -> None:
    data = b"\n".join(content)
    (tmp_path / "a.jsonl").write_bytes(data)
    [file] = discover([Source("s", ("a.jsonl",), str(tmp_path))])
    shards = split([file], shard_bytes)
    pieces = [piece for shard in shards for piece in shard.pieces]
    assert [p.start for p in pieces] == [0, *[p.stop for p in pieces[:-1]]]
    assert pieces[-1].stop == len(data) and pieces[-1].last
    starts = [0] if data else []
    starts += [at + 1 for at, byte in enumerate(data[:-1]) if byte == 10]
    for piece in pieces:
        assert count_lines(piece) == sum(piece.start <= at < piece.stop for at in starts)
    counts = {(0, p.start): count_lines(p) for p in pieces if needs_scan(p)}
    assert len(counts) == len(pieces) - 1
    for shard in with_rows(shards, counts):
        for piece in shard.pieces:
            assert piece.first_row == sum(at < piece.start for at in starts)


def test_rows_need_every_count() -> None:
    shards = split([_file(0, 100)], 50)
    with pytest.raises(KeyError):
        with_rows(shards, {})
    piece = shards[1].pieces[0]
    assert isinstance(piece, Piece) and piece.first_row is None
