"""Output files: the same rows give the same bytes, however they came."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cleanpipe import writers
from cleanpipe.batch import DROPPED, EDITS
from cleanpipe.store import Store
from cleanpipe.weights import table_bytes
from cleanpipe.writers import PartWriter

SCHEMA = pa.schema(
    [
        ("id", pa.large_string()),
        ("text", pa.large_string()),
        ("year", pa.int64()),
        ("tags", pa.list_(pa.large_string())),
        ("cleanpipe", pa.struct([("source", pa.large_string()), ("row", pa.int64())])),
    ]
)


def table(size: int, length: int = 10) -> pa.Table:
    rows = [
        {
            "id": f"id-{number}",
            "text": None if number % 11 == 7 else chr(97 + number % 7) * (number * length % 97),
            "year": None if number % 5 == 0 else 2000 + number % 3,
            "tags": ["a"] * (number % 3) if number % 4 else None,
            "cleanpipe": {"source": "web" if number % 2 else "books", "row": number},
        }
        for number in range(size)
    ]
    return pa.Table.from_pylist(rows, SCHEMA)


def written(folder: Path, rows: pa.Table, cuts: list[int], **options: Any) -> dict[str, bytes]:
    """Every file and its bytes, the rows given in parts that end at ``cuts``."""
    store = Store(str(folder))
    with PartWriter(store, "kept/part-00000", rows.schema, **options) as writer:
        for start, end in zip([0, *cuts], [*cuts, len(rows)], strict=True):
            writer.write(rows.slice(start, end - start))
    found = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    assert sorted(writer.files) == sorted(found)
    return found


@pytest.fixture
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writers, "ROW_GROUP_BYTES", 4000)
    monkeypatch.setattr(writers, "ROW_GROUP_ROWS", 50)


ROWS = table(200)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    cuts=st.lists(st.integers(0, 200), max_size=12).map(sorted),
    options=st.sampled_from(
        [{}, {"file_size": 1500}, {"format": "jsonl"}, {"format": "jsonl", "file_size": 900}]
    ),
)
def test_bytes_depend_on_rows_alone(
    small_groups: None,
    tmp_path_factory: pytest.TempPathFactory,
    cuts: list[int],
    options: dict[str, Any],
) -> None:
    folder = tmp_path_factory.mktemp("w")
    once = written(folder / "once", ROWS, [], **options)
    assert written(folder / "parts", ROWS, cuts, **options) == once


def test_one_by_one_and_from_chunks_of_other_tables(small_groups: None, tmp_path: Path) -> None:
    once = written(tmp_path / "once", ROWS, [])
    assert written(tmp_path / "each", ROWS, list(range(1, 200))) == once
    chunked = pa.concat_tables([ROWS.slice(0, 33), ROWS.slice(33, 0), ROWS.slice(33)])
    assert written(tmp_path / "chunks", chunked, [7]) == once


def test_pages_do_not_follow_batches(tmp_path: Path) -> None:
    # More than a page (1 MB) of every column, in one row group.
    size = 70_000
    rows = pa.table(
        {
            "text": pa.array([f"{number} " * 8 for number in range(size)], pa.large_string()),
            "n": pa.array([number * 2654435761 for number in range(size)]),
        }
    )
    once = written(tmp_path / "once", rows, [])
    assert written(tmp_path / "parts", rows, [1, 999, 20_000, 20_001, 50_000]) == once
    assert pq.ParquetFile(tmp_path / "once/kept/part-00000.parquet").num_row_groups == 1


def test_row_groups_end_at_the_first_row_that_reaches_the_limit(
    small_groups: None, tmp_path: Path
) -> None:
    files = written(tmp_path, ROWS, [13, 140])
    assert list(files) == ["kept/part-00000.parquet"]
    meta = pq.ParquetFile(tmp_path / "kept/part-00000.parquet").metadata
    groups = [meta.row_group(index).num_rows for index in range(meta.num_row_groups)]
    expected, cost, size = [], 0, 0
    for weight in table_bytes(ROWS).tolist():
        cost, size = cost + weight + 64, size + 1
        if cost >= 4000 or size == 50:
            expected.append(size)
            cost = size = 0
    assert groups == [*expected, size][: len(groups)]
    assert sum(groups) == 200
    assert pq.read_table(tmp_path / "kept/part-00000.parquet") == ROWS


@pytest.mark.parametrize("format", ["parquet", "jsonl"])
def test_files_are_closed_at_their_size(small_groups: None, tmp_path: Path, format: str) -> None:
    files = written(tmp_path, ROWS, [100], format=format, file_size=1500)
    assert list(files) == [f"kept/part-00000-{n:03d}.{format}" for n in range(len(files))]
    assert len(files) > 2
    *full, last = [len(content) for content in files.values()]
    assert all(size >= 1500 for size in full) and last > 0
    if format == "parquet":
        read = pa.concat_tables([pq.read_table(tmp_path / name) for name in files])
        assert read == ROWS
    else:
        lines = b"".join(files.values()).splitlines()
        assert [json.loads(line) for line in lines] == ROWS.to_pylist()


def test_no_empty_file_follows_a_full_one(small_groups: None, tmp_path: Path) -> None:
    rows = ROWS.slice(0, 50)
    (content,) = written(tmp_path / "a", rows, [], format="jsonl", file_size=10**6).values()
    files = written(tmp_path / "b", rows, [], format="jsonl", file_size=len(content))
    assert list(files.values()) == [content]


@pytest.mark.parametrize("schema", [SCHEMA, DROPPED, EDITS])
def test_no_rows(tmp_path: Path, schema: pa.Schema) -> None:
    empty = schema.empty_table()
    files = written(tmp_path / "p", empty, [])
    assert list(files) == ["kept/part-00000.parquet"]
    assert pq.read_table(tmp_path / "p" / "kept/part-00000.parquet") == empty
    assert written(tmp_path / "j", empty, [], format="jsonl") == {"kept/part-00000.jsonl": b""}
    assert list(written(tmp_path / "f", empty, [], file_size=100)) == [
        "kept/part-00000-000.parquet"
    ]


def test_json_lines_are_utf8_as_it_is(tmp_path: Path) -> None:
    rows = pa.table({"id": ["1"], "text": ['é"\n长\0\u2028'], "n": [None]})
    (content,) = written(tmp_path, rows, [], format="jsonl").values()
    assert content.count(b"\n") == 1 and "长".encode() in content
    assert json.loads(content) == {"id": "1", "text": 'é"\n长\0\u2028', "n": None}


def test_pages_have_checksums_and_texts_no_dictionary(tmp_path: Path) -> None:
    written(tmp_path, ROWS, [])
    path = tmp_path / "kept/part-00000.parquet"
    assert pq.read_table(path, page_checksum_verification=True) == ROWS
    group = pq.ParquetFile(path).metadata.row_group(0)
    columns = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
    assert not columns["text"].has_dictionary_page
    for name in ("year", "cleanpipe.source", "tags.list.element"):
        assert columns[name].has_dictionary_page
    assert columns["text"].compression == "ZSTD"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options", [{}, {"file_size": 1500}])
def test_an_exception_leaves_no_half_file(
    small_groups: None, tmp_path: Path, options: dict[str, Any]
) -> None:
    store = Store(str(tmp_path))
    with pytest.raises(KeyError), PartWriter(store, "p", SCHEMA, **options) as writer:
        writer.write(ROWS)
        raise KeyError
    left = sorted(path.name for path in tmp_path.iterdir())
    # Files that were already full are whole; a record would name them only at the end.
    assert all(pq.read_table(tmp_path / name).num_rows for name in left)
    assert not options or left == writer.files[: len(left)]
    assert options or left == []
