"""One output schema for all sources: types, roles, names, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cleanpipe.columns import Columns, SourceRoles
from cleanpipe.errors import ConfigError
from cleanpipe.parameters import LocalPath
from cleanpipe.reference_texts import reference_texts
from cleanpipe.schema import output_columns, text_columns
from cleanpipe.shards import discover
from cleanpipe.sources import Source

Options = Mapping[str, Any]


def _columns(folder: Path, contents: Mapping[str, Any], **options: Options) -> Columns:
    """Write each file ``source/name`` and resolve the sources' columns."""
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, list):
            path.write_text("".join(json.dumps(row) + "\n" for row in content))
        else:
            pq.write_table(pa.table(content), path)
    names = dict.fromkeys(name.split("/")[0] for name in contents)
    sources = [Source(name, (name,), str(folder), **options.get(name, {})) for name in names]
    return output_columns(sources, discover(sources))


S, N, F, B = pa.large_string(), pa.int64(), pa.float64(), pa.bool_()

KINDS: list[tuple[list[Any], pa.DataType | None]] = [
    (["a", None], S),
    ([1, 2], N),
    ([1, 2.5], F),
    ([2.5, 1], F),
    ([True, None], B),
    ([None, None], None),
    ([[1], {"a": 1}], None),
    ([[1], 1], N),
    (["a", "b", 1], S),
    (["a", 1, 2.5], F),
    ([1, "a"], S),
    ([True, 1], N),
    ([2**63, 1], N),
    ([2**63, -(2**63) - 1], None),
    ([10**400, 1], N),
]


@pytest.mark.parametrize(("values", "kind"), KINDS)
def test_json_types(tmp_path: Path, values: list[Any], kind: pa.DataType | None) -> None:
    rows = [{"text": "t", "v": value} for value in values]
    columns = _columns(tmp_path, {"s/a.jsonl": rows})
    fields = [] if kind is None else [("v", kind)]
    assert columns.schema == pa.schema([*fields, ("extra", S)])
    assert columns.loose == {"s": ("v",) if kind is None else ()}
    assert columns.roles == {"s": SourceRoles("text", "id", None)}


def test_heads_of_sixteen_files(tmp_path: Path) -> None:
    rows: dict[str, Any] = {
        f"s/{place:03d}.jsonl": [{"text": "t", f"k{place}": 1}] for place in range(100)
    }
    names = _columns(tmp_path, rows).schema.names
    assert len(names) == 17 and {"k0", "k99", "extra"} <= set(names)


def test_a_head_is_a_thousand_lines_or_a_mebibyte(tmp_path: Path) -> None:
    many = [{"text": "t", f"k{row // 1000}": 1} for row in range(1001)]
    assert _columns(tmp_path / "", {"a/a.jsonl": many}).schema.names == ["k0", "extra"]
    long = [{"text": "t" * (2 << 20), "first": 1}, {"text": "t", "second": 2}]
    assert _columns(tmp_path, {"b/a.jsonl": long}).schema.names == ["first", "extra"]
    row = json.dumps({"text": "t", "only": 1}).encode()
    assert _columns(tmp_path, {"c/a.jsonl": row}).schema.names == ["only", "extra"]
    crlf = b"\xef\xbb\xbf" + row + b"\r\nbad\r\n\r\n" + row
    assert _columns(tmp_path, {"d/a.jsonl": crlf}).schema.names == ["only", "extra"]


def test_parquet_types_stay(tmp_path: Path) -> None:
    table = {
        "score": pa.array([1], pa.float32()),
        "text": ["t"],
        "when": pa.array([0], pa.timestamp("ms")),
        "kind": pa.array(["x"]).dictionary_encode(),
        "id": [1],
        "source": ["mine"],
        "language": ["en"],
        "url": ["u"],
        "raw": [b""],
    }
    columns = _columns(tmp_path, {"s/a.parquet": table})
    assert columns.schema == pa.schema(
        [
            ("score", pa.float32()),
            ("when", pa.timestamp("ms")),
            ("kind", S),
            ("source", S),
            ("language", S),
            ("url", S),
            ("raw", pa.large_binary()),
        ]
    )
    assert columns.roles["s"] == SourceRoles("text", "id", "url")


WIDER = [
    (pa.int8(), pa.int64(), pa.int64()),
    (pa.uint8(), pa.int8(), pa.int16()),
    (pa.uint32(), pa.int8(), pa.int64()),
    (pa.uint64(), pa.int8(), None),
    (pa.uint8(), pa.uint64(), pa.uint64()),
    (pa.float32(), pa.float64(), pa.float64()),
    (pa.int16(), pa.float32(), pa.float32()),
    (pa.int32(), pa.float32(), pa.float64()),
    (pa.int64(), pa.float64(), None),
    (pa.null(), pa.date32(), pa.date32()),
    (pa.string(), pa.large_string(), S),
    (pa.string(), pa.int8(), None),
    (pa.timestamp("ms"), pa.timestamp("us"), None),
]


@pytest.mark.parametrize(("one", "two", "wider"), WIDER)
@pytest.mark.parametrize("turned", [False, True])
def test_widening(
    tmp_path: Path, one: pa.DataType, two: pa.DataType, wider: pa.DataType | None, turned: bool
) -> None:
    kinds = (two, one) if turned else (one, two)
    tables = [{"text": ["t"], "v": pa.nulls(1, kind)} for kind in kinds]
    across = {"a/x.parquet": tables[0], "b/x.parquet": tables[1]}
    within = {"c/x.parquet": tables[0], "c/y.parquet": tables[1]}
    if wider is None:
        with pytest.raises(ConfigError, match=r"write rename: \{v: b_v\}"):
            _columns(tmp_path, across)
        with pytest.raises(ConfigError, match="make them two sources"):
            _columns(tmp_path, within)
    else:
        assert _columns(tmp_path, across).schema.field("v").type == wider
        assert _columns(tmp_path, within).schema.field("v").type == wider


def test_json_beside_parquet(tmp_path: Path) -> None:
    columns = _columns(
        tmp_path,
        {
            "a/a.jsonl": [{"body": "t", "i": 1, "f": 1, "s": "x", "url": "u"}],
            "b/b.parquet": {"text": ["t"], "i": pa.array([1], pa.int8()), "f": [1.5], "s": ["x"]},
            "c/c.txt": b"plain",
        },
        a={"text": "body", "id": "url"},
    )
    assert columns.schema == pa.schema([("i", N), ("f", F), ("s", S), ("url", S), ("extra", S)])
    assert columns.roles == {
        "a": SourceRoles("body", "url", "url"),
        "b": SourceRoles("text", None, None),
        "c": SourceRoles(None, None, None),
    }
    assert columns.mapping["a"] == {"i": "i", "f": "f", "s": "s", "url": "url"}
    assert columns.mapping["c"] == {}


def test_rename(tmp_path: Path) -> None:
    columns = _columns(
        tmp_path,
        {"s/a.parquet": {"content": ["t"], "text": ["mine"], "id": [1], "url": ["u"], "x": [1]}},
        s={"text": "content", "id": "url", "rename": {"text": "title", "id": "number", "x": "y"}},
    )
    assert columns.schema.names == ["title", "number", "url", "y"]
    assert columns.mapping["s"] == {"text": "title", "id": "number", "url": "url", "x": "y"}


def test_who_wants_the_texts_alone(tmp_path: Path) -> None:
    """What a run has kept, or a second column called `text`, is no fault then."""
    kept = {"text": ["t"], "id": ["i"], "cleanpipe": [{"row": 1}], "extra": ["{}"]}
    pq.write_table(pa.table(kept), tmp_path / "a.parquet")
    (tmp_path / "b.jsonl").write_text('{"text": "u", "cleanpipe": "mine"}\n')
    source = Source("s", ("a.parquet", "b.jsonl"), str(tmp_path))
    columns = text_columns(source, discover([source]))
    assert columns.roles["s"] == SourceRoles("text", "id", None)
    assert not {"cleanpipe", "text", "id"} & set(columns.mapping["s"])
    with pytest.raises(ConfigError, match="would clash"):
        output_columns([source], discover([source]))
    found = [text.as_py() for part in reference_texts([
        LocalPath(str(tmp_path / name)) for name in ("a.parquet", "b.jsonl")
    ]) for text in part]  # fmt: skip
    assert found == ["t", "u"]
    with pytest.raises(ConfigError, match="no column `body`"):
        text_columns(Source("s", ("a.parquet",), str(tmp_path), text="body"), discover([source]))


ROW = {"text": "t", "id": 1, "url": "u", "title": "x"}

# source options, columns, expected (place, message)s
FAULTS: list[tuple[Options, Mapping[str, Any], list[tuple[str, str]]]] = [
    (
        {"text": "contents"},
        {"url": ["u"], "content": ["t"], "n": [1]},
        [("text", "no column `contents` in `s/a.parquet`: there are `content`, `n`, `url`")],
    ),
    (
        {},
        {"content": ["t"]},
        [
            (
                "text",
                "no column `text` in `s/a.parquet`: there are `content`;"
                " name it by text: beside the paths, in a pipeline file",
            )
        ],
    ),
    ({}, {"text": [1]}, [("text", "expected a column of strings, `text` is int64")]),
    (
        {"id": "ids", "url": "link"},
        ROW,
        [
            ("id", "no column `ids`: there are `id`, `title`, `text`, `url`"),
            ("url", "no column `link`: there are `id`, `url`, `title`, `text`"),
        ],
    ),
    ({"url": "id"}, ROW, [("url", "expected a column of strings, `id` is int64")]),
    ({"id": "text"}, ROW, [("id", "`text` is the text column already")]),
    (
        {"text": "title", "id": "url"},
        ROW,
        [
            (
                "rename",
                "column `text` would clash with our `text`; column `id` would clash with our"
                " `id`: write rename: {text: s_text, id: s_id}",
            )
        ],
    ),
    (
        {"rename": {"url": "cleanpipe", "title": "s_url"}},
        ROW,
        [
            (
                "rename",
                "column `url`, renamed `cleanpipe` would clash with our `cleanpipe`:"
                " write rename: {url: s_url_, title: s_url}",
            )
        ],
    ),
    (
        {"rename": {"url": "title"}},
        ROW,
        [("rename", "`title` and `url` are both named `title`: write rename: {url: title, title")],
    ),
    (
        {"rename": {"text": "x", "titel": "y"}},
        ROW,
        [
            ("rename", "`text` is the text column: its name is `text`"),
            ("rename", "no column `titel`: there are `title`, `text`, `id`, `url`"),
        ],
    ),
    (
        {},
        {"text": ["t"], "cleanpipe": [1], "a b": [1]},
        [("rename", "column `cleanpipe` would clash with our `cleanpipe`: write rename: {clean")],
    ),
]


@pytest.mark.parametrize(("options", "table", "expected"), FAULTS)
@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_faults(
    tmp_path: Path,
    options: Options,
    table: Mapping[str, Any],
    expected: list[tuple[str, str]],
    kind: str,
) -> None:
    lists = {key: value if isinstance(value, list) else [value] for key, value in table.items()}
    if kind == "jsonl":
        if any("is int64" in message and place == "text" for place, message in expected):
            return  # a JSON text of another type is dead, line by line
        content: Any = [{key: value[0] for key, value in lists.items()}]
    else:
        content = lists
    with pytest.raises(ConfigError) as caught:
        _columns(tmp_path, {f"s/a.{kind}": content}, s=options)
    found = [(fault.path, fault.message) for fault in caught.value.faults]
    assert len(found) == len(expected), found
    for (place, message), (key, start) in zip(sorted(found), sorted(expected), strict=True):
        assert place == f"sources.s.{key}"
        if kind == "jsonl":
            start = start.replace("in `s/a.parquet`", "in any sampled line")
        assert message.startswith(start)


def test_other_faults(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        _columns(
            tmp_path,
            {
                "a/a.parquet": b"PAR1 not really PAR1",
                "b/a.json": b'[\n  {"text": "pretty"}\n]\n',
                "c/a.txt": b"plain",
                "d/a.jsonl": [{"text": "t", "extra": "mine", "no": 1}],
                "e/a.parquet": {"text": ["t"], "no": ["x"]},
            },
            c={"text": "body"},
        )
    assert [str(fault) for fault in caught.value.faults] == [
        "pipeline: sources.a.paths: no file of this source can be read, such as `a/a.parquet`",
        "pipeline: sources.c.text: plain text has no columns: leave this out",
        "pipeline: sources.d.rename: column `extra` would clash with our `extra`,"
        " which holds what fits no column: write rename: {extra: d_extra}",
        "pipeline: sources.e.rename: `no` is large_string here and int64 in source `d`:"
        ' write rename: {"no": e_no}',
    ]


def test_a_json_array_is_no_json_lines(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="none of the first 3 lines is a JSON object"):
        _columns(tmp_path, {"b/a.json": b'[\n  "text",\n]\n'})


def test_empty_files_show_no_columns(tmp_path: Path) -> None:
    columns = _columns(
        tmp_path, {"s/a.jsonl": b"", "t/b.jsonl": b"\n"}, s={"text": "body", "url": "link"}
    )
    assert columns.schema.names == ["extra"]
    assert columns.roles["s"] == SourceRoles("body", "id", "link")


def test_a_broken_file_beside_a_good_one(tmp_path: Path) -> None:
    contents = {"s/a.parquet": b"PAR1", "s/b.parquet": {"text": ["t"], "n": [1]}}
    assert _columns(tmp_path, contents).schema.names == ["n"]


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    table = pa.table([["t"], [1], [2]], names=["text", "n", "n"])
    path = tmp_path / "a.arrow"
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    source = Source("s", ("a.arrow",), str(tmp_path))
    with pytest.raises(ConfigError, match="two columns named `n`"):
        output_columns([source], discover([source]))
