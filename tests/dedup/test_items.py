"""Test sets: formats, fields, templates, ids, and every fault with its place."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleanpipe import ConfigError
from cleanpipe.dedup.fields import Field, known, strings, texts
from cleanpipe.dedup.items import Item, Part, Tests, TestSet, item_files, read_items
from cleanpipe.document import frozen
from cleanpipe.parameters import build, shown
from tests.jobs import ROOT

Rows = list[dict[str, Any]]


def made(folder: Path, **parameters: Any) -> TestSet:
    """A set as a pipeline file in ``folder`` makes it."""
    test_set, faults = build(TestSet, frozen(parameters), str(folder))
    assert not faults
    assert isinstance(test_set, TestSet)
    return test_set


def lines(rows: Rows) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def parquet(rows: Rows | pa.Table) -> bytes:
    file = io.BytesIO()
    table = rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(rows)
    pq.write_table(table, file, compression="none", write_page_checksum=True)
    return file.getvalue()


def zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, "zstd", asbytes=True))


def plain(items: list[Item]) -> list[tuple[str, dict[str, str]]]:
    return [(item.id, {part.name: part.text for part in item.parts}) for item in items]


SUM: Rows = [
    {"question": "Ann has two hens and buys one. How many?", "answer": "She has 3.\n#### 3"},
    {"question": "A rope of 9 m is cut in three.", "answer": "#### 3"},
]
SUMS = [
    ("0", {"question": SUM[0]["question"], "answer": SUM[0]["answer"]}),
    ("1", {"question": SUM[1]["question"], "answer": SUM[1]["answer"]}),
]
CHOICE: Rows = [
    {
        "id": "q/7",
        "query": "Question: What floats?\n A. ice\n B. iron\nAnswer:",
        "choices": list("AB"),
    },
]
CHAT: Rows = [
    {
        "id": 5,
        "messages": [
            {"role": "user", "content": "母鸡有几只？"},
            {"role": "assistant", "content": ""},
        ],
        "answer": 3,
    },
]
PROGRAM: Rows = [
    {
        "task_id": "Set/0",
        "prompt": "def f(x):\n",
        "canonical_solution": "    return x\n",
        "test": "f(1)",
    }
]
NESTED: Rows = [
    {"id": 1, "question": "Why?", "mc1_targets": {"choices": ["Because", "No"], "labels": [1, 0]}},
    {"id": 2, "question": "How?", "mc1_targets": {"choices": ["So"], "labels": [1]}},
]
READING: Rows = [
    {
        "id": "r1",
        "context": "It rains.",
        "answers": {"text": ["rain", "rains"], "answer_start": [3, 3]},
    }
]
MANY: Rows = [
    {"question": "Which is a prime?", "subject": "maths", "choices": ["4", "7"], "answer": 1}
]

# file, content, parameters, items
CASES: dict[str, tuple[str, bytes, dict[str, Any], list[tuple[str, dict[str, str]]]]] = {
    "json lines": ("a.jsonl", lines(SUM), {}, SUMS),
    "ndjson": ("a.ndjson", lines(SUM), {}, SUMS),
    "ending in capitals": ("A.JSONL", lines(SUM), {}, SUMS),
    "no newline at the end": ("a.jsonl", lines(SUM)[:-1], {}, SUMS),
    "crlf, mark, blank lines": (
        "a.jsonl",
        b"\xef\xbb\xbf" + lines(SUM).replace(b"\n", b"\r\n \r\n\n"),
        {},
        SUMS,
    ),
    "gzip": ("a.jsonl.gz", gzip.compress(lines(SUM)), {}, SUMS),
    "zstd": ("a.jsonl.zst", zstd(lines(SUM)), {}, SUMS),
    "json list": ("a.json", json.dumps(SUM, indent=1).encode(), {}, SUMS),
    "json with a mark": ("a.json", b"\xef\xbb\xbf" + json.dumps(SUM).encode(), {}, SUMS),
    "json object": (
        "a.json",
        json.dumps({"version": "1.1", "tags": ["x"], "data": SUM}).encode(),
        {},
        SUMS,
    ),
    "json packed": ("a.json.zst", zstd(json.dumps(SUM).encode()), {}, SUMS),
    "parquet": ("a.parquet", parquet(SUM), {}, SUMS),
    "parquet packed": ("a.parquet.gz", gzip.compress(parquet(SUM)), {}, SUMS),
    "csv": (
        "a.csv",
        b'\xef\xbb\xbfid,question,answer\r\nx,"one, ""two""\nthree",4\r\n\r\n,five,6\r\n',
        {},
        [
            ("x", {"question": 'one, "two"\nthree', "answer": "4"}),
            ("1", {"question": "five", "answer": "6"}),
        ],
    ),
    "tsv": ("a.tsv", b"q\ta\none, two\t3\n", {}, [("0", {"q": "one, two", "a": "3"})]),
    "csv of one column": ("a.csv.gz", gzip.compress(b"q\none\n"), {}, [("0", {"q": "one"})]),
    "all in one field": (
        "a.jsonl",
        lines(CHOICE),
        {"fields": ["query"]},
        [("q/7", {"query": CHOICE[0]["query"]})],
    ),
    "every string": (
        "a.jsonl",
        lines(CHAT),
        {},
        [("5", {"messages.role": "user\nassistant", "messages.content": "母鸡有几只？\n"})],
    ),
    "one message": (
        "a.jsonl",
        lines(CHAT),
        {"fields": {"question": "messages[0].content", "answer": "answer"}},
        [("5", {"question": "母鸡有几只？", "answer": "3"})],
    ),
    "id elsewhere": (
        "a.jsonl",
        lines(PROGRAM),
        {"id": "task_id", "tokens": "code"},
        [
            (
                "Set/0",
                {"prompt": "def f(x):\n", "canonical_solution": "    return x\n", "test": "f(1)"},
            )
        ],
    ),
    "nested id": (
        "a.jsonl",
        lines([{"meta": [{"key": "k", "by": "me"}], "id": "no", "q": "Why?"}]),
        {"id": "meta[0].key"},
        [("k", {"meta.by": "me", "q": "Why?"})],
    ),
    "nested choices": (
        "a.json",
        json.dumps(NESTED).encode(),
        {"fields": ["question", "mc1_targets.choices"]},
        [
            ("1", {"question": "Why?", "mc1_targets.choices": "Because\nNo"}),
            ("2", {"question": "How?", "mc1_targets.choices": "So"}),
        ],
    ),
    "answers": (
        "a.parquet",
        parquet(READING),
        {"fields": ["answers.text", "answers.answer_start[0]"]},
        [("r1", {"answers.text": "rain\nrains", "answers.answer_start[0]": "3"})],
    ),
    "template": (
        "a.parquet",
        parquet(MANY),
        {"fields": {"all": "{{{question} {choices[*]} ({answer})}}"}},
        [("0", {"all": "{Which is a prime? 4\n7 (1)}"})],
    ),
    "template as a name": (
        "a.jsonl",
        lines(SUM[1:]),
        {"fields": ["{question} {answer}"]},
        [("0", {"{question} {answer}": "A rope of 9 m is cut in three. #### 3"})],
    ),
    "a hole that is empty": (
        "a.jsonl",
        lines(
            [{"q": "Why?", "a": None}, {"q": "How?"}, {"q": "Who?", "a": "I"}, {"q": "", "a": ""}]
        ),
        {"fields": {"t": "{q} {a}", "q": "q"}},
        [
            ("0", {"q": "Why?"}),
            ("1", {"q": "How?"}),
            ("2", {"t": "Who? I", "q": "Who?"}),
            ("3", {}),
        ],
    ),
    "an empty text in a template": (
        "a.jsonl",
        lines([{"input": "", "q": "Why?"}]),
        {"fields": ["{input}{q}"]},
        [("0", {"{input}{q}": "Why?"})],
    ),
    "scalars": (
        "a.jsonl",
        b'{"v": [1, -0.5, 1e3, true, null, "x", [2], 123456789012345678901234567890]}\n',
        {"fields": ["v"]},
        [("0", {"v": "1\n-0.5\n1000.0\ntrue\nx\n2\n123456789012345678901234567890"})],
    ),
    "no text": ("a.jsonl", lines([{"id": "n", "a": 3, "b": [], "c": {}}]), {}, [("n", {})]),
    "blank text": (
        "a.jsonl",
        lines([{"q": " \n"}, {"q": "x"}]),
        {},
        [("0", {}), ("1", {"q": "x"})],
    ),
    "ids": (
        "a.jsonl",
        b'{"id": null, "q": "a"}\n{"q": "b"}\n{"id": 1.5, "q": "c"}\n{"id": true, "q": "d"}\n'
        b'{"id": "", "q": "e"}\n{"id": {"x": "y"}, "q": "f"}\n{"id": ["z"], "q": "g"}\n',
        {},
        [
            ("0", {"q": "a"}),
            ("1", {"q": "b"}),
            ("1.5", {"q": "c"}),
            ("true", {"q": "d"}),
            ("4", {"q": "e"}),
            ("5", {"q": "f"}),
            ("6", {"q": "g"}),
        ],
    ),
    "odd keys": (
        "a.jsonl",
        lines([{"a.b": {"c": "whole"}, "a": {"b": "no", "d[0]": "bracket"}, " é ": "spaces"}]),
        {"fields": ["a.b.c", "a.d[0]", " é "]},
        [("0", {"a.b.c": "whole", "a.d[0]": "bracket", " é ": "spaces"})],
    ),
    "a key twice": ("a.jsonl", b'{"q": "first", "q": "last"}\n', {}, [("0", {"q": "last"})]),
    "lone surrogates": (
        "a.jsonl",
        rb'{"q": "cut \ud83d", "r": ["\ud83d\ude00"]}',
        {},
        [("0", {"q": "cut \ufffd", "r": "😀"})],
    ),
    "lone surrogates in json": (
        "a.json",
        rb'[{"q": "\udc00 cut \\ud83d"}]',
        {},
        [("0", {"q": "\ufffd cut \\ud83d"})],
    ),
    "large": (
        "a.jsonl",
        lines([{"q": "word " * 2_000_000}]),
        {},
        [("0", {"q": "word " * 2_000_000})],
    ),
    "large in csv": (
        "a.csv",
        b"q,r\n" + b"x" * 10**7 + b",y\n",
        {},
        [("0", {"q": "x" * 10**7, "r": "y"})],
    ),
    "deep": (
        "a.jsonl",
        b'{"q": ' + b"[" * 255 + b'"x"' + b"]" * 255 + b"}",
        {},
        [("0", {"q": "x"})],
    ),
    "types of parquet": (
        "a.parquet",
        parquet(
            pa.table(
                {
                    "q": pa.array(["x", None]).dictionary_encode(),
                    "n": pa.array([float("nan"), 0.5]),
                    "b": pa.array([b"\xff", None]),
                    "m": pa.array([[("k", "v")], None], pa.map_(pa.string(), pa.string())),
                    "d": pa.array([0, None], pa.date32()),
                }
            )
        ),
        {"fields": ["q", "n", "m.k", "d"]},
        [("0", {"q": "x", "m.k": "v", "d": "1970-01-01"}), ("1", {"n": "0.5"})],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_items(tmp_path: Path, case: str) -> None:
    name, content, parameters, expected = CASES[case]
    (tmp_path / name).write_bytes(content)
    items = read_items(made(tmp_path, paths=name, **parameters))
    assert plain(items) == expected
    assert [list(parts) for _, parts in plain(items)] == [list(parts) for _, parts in expected]


GOOD = lines([{"q": "Why?", "id": "a"}])

# file, content, parameters, the message; FILE stands for the path
FAULTS: dict[str, tuple[str, bytes, dict[str, Any], str]] = {
    "broken line": (
        "a.jsonl",
        GOOD + b'\n{"q": "cut he\n' + GOOD,
        {},
        "FILE:3: no JSON object: Input data was truncated",
    ),
    "a list in a line": (
        "a.jsonl",
        GOOD + b"[1]\n",
        {},
        "FILE:2: no JSON object: Expected `object`, got `array`",
    ),
    "two in a line": (
        "a.jsonl",
        GOOD[:-1] + GOOD,
        {},
        "FILE:1: no JSON object: JSON is malformed: trailing characters (byte 25)",
    ),
    "too deep": (
        "a.jsonl",
        b'{"q": ' + b"[" * 100_000,
        {},
        "FILE:1: no JSON object: nested deeper than 256 levels",
    ),
    "too deep, well-formed": (
        "a.json",
        b"[\n" + GOOD + b', {"q": ' + b"[" * 256 + b"]" * 256 + b"}]",
        {},
        "FILE:3: no JSON object: nested deeper than 256 levels",
    ),
    "far too deep": ("a.json", b"[" * 100_000, {}, "FILE: nested too deeply for a test set"),
    "number too large": (
        "a.jsonl",
        b'{"q": 1e999}',
        {},
        "FILE:1: no JSON object: Number out of range",
    ),
    "not utf-8": (
        "a.jsonl",
        GOOD + b'{"q": "\xff"}',
        {},
        "FILE:2: expected UTF-8, got the byte 0xff",
    ),
    "utf-16": (
        "a.csv",
        "q\nWhy?".encode("utf-16"),
        {},
        "FILE:1: expected UTF-8, got the byte 0xff",
    ),
    "empty": ("a.jsonl", b"", {}, "FILE: has no items"),
    "blank": ("a.jsonl", b"\n \n", {}, "FILE: has no items"),
    "blank json": ("a.json", b" \n", {}, "FILE: has no items"),
    "empty list": ("a.json", b"[]", {}, "FILE: has no items"),
    "empty list in json": ("a.json", b'{"data": []}', {}, "FILE: has no items"),
    "empty csv": ("a.csv", b"", {}, "FILE: has no items"),
    "only a header": ("a.csv", b"q,a\n", {}, "FILE: has no items"),
    "empty parquet": (
        "a.parquet",
        parquet(pa.table({"q": pa.array([], pa.string())})),
        {},
        "FILE: has no items",
    ),
    "no list": (
        "a.json",
        b'{"q": "Why?", "choices": ["a"]}',
        {},
        "FILE: expected a list of objects, or an object with one such list, got an object without "
        "one; its keys: q, choices",
    ),
    "two lists": (
        "a.json",
        b'{"test": [{"q": "x"}], "n": 1, "train": [{"q": "y"}]}',
        {},
        "FILE: expected a list of objects, or an object with one such list, got an object with 2 "
        "such lists; its keys: test, train",
    ),
    "a list of texts": (
        "a.json",
        b'[\n{"q": "x"},\n\n"y"]',
        {},
        "FILE:4: expected a list of objects, got a string in it",
    ),
    "a text": (
        "a.json",
        b'"y"',
        {},
        "FILE:1: expected a list of objects: Expected `object | array`, got `str`",
    ),
    "lines in json": (
        "a.json",
        b'{"q": "x"}\n{"q": "y"}\n',
        {},
        "FILE:2: expected a list of objects: JSON is malformed: trailing characters (byte 12); "
        "if each line is an object, name it .jsonl",
    ),
    "json cut": (
        "a.json",
        b'[{"q": "x"},\n{"q": "y"',
        {},
        "FILE:2: expected a list of objects: Input data was truncated",
    ),
    "ragged": (
        "a.csv",
        b'q,a\n"one\ntwo",3\nfour,5,6\n',
        {},
        "FILE:4: expected 2 cells, as in the first line, got 3; a cell with a separator or a "
        "newline in it needs quotes",
    ),
    "open quote": (
        "a.csv",
        b'q,a\n1,2\n"one,2\n',
        {},
        "FILE:3: cannot be taken apart: unexpected end of data",
    ),
    "text after a quote": (
        "a.csv",
        b'q,a\n"one"two,2\n',
        {},
        "FILE:2: cannot be taken apart: ',' expected after '\"'",
    ),
    "column twice": (
        "a.csv",
        b"\nq,a,q\n1,2,3\n",
        {},
        'FILE:2: two columns are called "q": rename one',
    ),
    "column twice in parquet": (
        "a.parquet",
        parquet(pa.Table.from_arrays([pa.array(["x"]), pa.array(["y"])], names=["q", "q"])),
        {},
        'FILE: two columns are called "q": rename one',
    ),
    "corrupt parquet": (
        "a.parquet",
        b"PAR1" + b"x" * 100 + b"PAR1",
        {},
        "FILE: expected a Parquet file: ",
    ),
    "parquet cut": ("a.parquet", parquet(SUM)[:-20], {}, "FILE: expected a Parquet file: "),
    "parquet with a wrong page": (
        "a.parquet",
        parquet(SUM).replace(b"two hens", b"ten hens"),
        {},
        "FILE: expected a Parquet file: could not verify page integrity, CRC checksum",
    ),
    "parquet with ill-formed text": (
        "a.parquet",
        parquet(pa.table({"q": pa.array([b"\xff"]).view(pa.string())})),
        {},
        "FILE: expected a Parquet file: 'utf-8' codec can't decode",
    ),
    "gzip cut": (
        "a.jsonl.gz",
        gzip.compress(GOOD)[:-9],
        {},
        "FILE: cannot be unpacked: the gzip data ends too early",
    ),
    "no gzip": ("a.jsonl.gz", GOOD, {}, "FILE: cannot be unpacked: gzip: "),
    "empty gzip": (
        "a.jsonl.gz",
        b"",
        {},
        "FILE: cannot be unpacked: an empty file is no gzip file",
    ),
    "unknown ending": (
        "a.jsonl.bz2",
        GOOD,
        {},
        "FILE: expected a test set, named by its format: .jsonl, .ndjson, .json, .parquet, .csv, "
        ".tsv, each also with .gz or .zst; rename or unpack it",
    ),
    "unknown field": (
        "a.jsonl",
        GOOD,
        {"fields": ["question", "q"]},
        'a.jsonl: no item has "question"; known: id, q',
    ),
    "misspelt field": (
        "a.jsonl",
        lines(CHAT),
        {"fields": {"x": "{answer} {messages[0].contents}"}},
        'a.jsonl: no item has "messages[0].contents"; did you mean "messages.content"? known: '
        "answer, id, messages.content, messages.role",
    ),
    "always null": (
        "a.jsonl",
        lines([{"q": "x", "a": None}]),
        {"fields": ["q", "a"]},
        'a.jsonl: "a" finds nothing in any item',
    ),
    "past the end": (
        "a.jsonl",
        lines(CHOICE),
        {"fields": ["choices[2]"]},
        'a.jsonl: "choices[2]" finds nothing in any item',
    ),
    "always blank": (
        "a.jsonl",
        lines([{"q": "x", "a": " "}]),
        {"fields": ["q", "a"]},
        'a.jsonl: "a" is blank in every item',
    ),
    "never together": (
        "a.jsonl",
        lines([{"a": "x"}, {"b": "y"}]),
        {"fields": ["{a} {b}"]},
        "a.jsonl: no item has a text by a and b together",
    ),
    "an object": (
        "a.jsonl",
        GOOD + lines(NESTED),
        {"fields": ["mc1_targets"]},
        'FILE:2: "mc1_targets" is an object, not a text: name what is in it, such as '
        '"mc1_targets.choices"; known: choices, labels',
    ),
    "an object that stood inside another": (
        "a.json",
        b'[{"q": {"a": {"b": 1}}},\n{"a": {"b": 1}}]',
        {"fields": ["a"]},
        'FILE:2: "a" is an object, not a text: ',
    ),
    "bytes": (
        "a.parquet",
        parquet([{"q": "x", "image": b"\xff"}]),
        {"fields": ["image"]},
        'FILE: row 0: "image" is bytes, not a text',
    ),
    "unknown id": ("a.jsonl", GOOD, {"id": "task"}, 'a.jsonl: no item has "task"; known: id, q'),
    "an id of several": (
        "a.jsonl",
        lines(CHOICE),
        {"id": "choices"},
        'FILE:1: "choices" is 2 values: an id is one',
    ),
    "an id that is an object": (
        "a.json",
        json.dumps(NESTED).encode(),
        {"id": "mc1_targets"},
        'FILE:1: "mc1_targets" is an object, not a text: ',
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_faults(tmp_path: Path, case: str) -> None:
    name, content, parameters, message = FAULTS[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(
        ConfigError, match="^" + re.escape(message.replace("FILE", str(tmp_path / name)))
    ):
        read_items(made(tmp_path, paths=name, **parameters))


def test_a_reading_leaves_the_limit_of_cells_as_it_was(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    (tmp_path / "a.csv").write_bytes(b'q\n"')
    with pytest.raises(ConfigError):
        read_items(made(tmp_path, paths="a.csv"))
    assert csv.field_size_limit() == before


def test_files_by_their_bytes_and_places_over_all(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "é.jsonl", "Z.jsonl"):
        (tmp_path / name).write_bytes(lines([{"q": name}, {"q": "more"}]))
    test_set = made(tmp_path, paths=["b.jsonl", "*.jsonl", "./a.jsonl"])
    assert [path.written for path in item_files(test_set)] == [
        "Z.jsonl",
        "a.jsonl",
        "b.jsonl",
        "é.jsonl",
    ]
    items = read_items(test_set)
    assert [item.id for item in items] == list("01234567")
    assert [item.parts[0].text for item in items[::2]] == [
        "Z.jsonl",
        "a.jsonl",
        "b.jsonl",
        "é.jsonl",
    ]


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ("no.jsonl", "no file matches no.jsonl"),
        (["a.jsonl", "b*.csv", "c.csv"], "no file matches b*.csv\nno file matches c.csv"),
        ("folder", "folder is a folder: write folder/* for its files"),
        ("s3://sets/a.jsonl", "s3://sets/a.jsonl: test sets are local files: copy it first"),
    ],
)
def test_files_that_are_not_there(tmp_path: Path, paths: Any, message: str) -> None:
    (tmp_path / "a.jsonl").write_bytes(GOOD)
    (tmp_path / "folder").mkdir()
    with pytest.raises(ConfigError, match=f"^{re.escape(message)}$"):
        item_files(made(tmp_path, paths=paths))


def test_an_empty_file_among_others_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(GOOD)
    (tmp_path / "b.jsonl").write_bytes(b"")
    with pytest.raises(ConfigError, match="b.jsonl: has no items"):
        read_items(made(tmp_path, paths="*.jsonl"))


def test_a_field_need_not_be_in_every_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(GOOD)
    (tmp_path / "b.jsonl").write_bytes(lines([{"p": "How?"}]))
    items = read_items(made(tmp_path, paths="*.jsonl", fields=["p", "q"]))
    assert items == [Item("a", (Part("q", "Why?"),)), Item("1", (Part("p", "How?"),))]


@dataclass(frozen=True)
class Holder:
    """Stands for the stage."""

    tests: Tests


def sets_of(folder: Path, value: Any) -> tuple[Any, list[str]]:
    holder, faults = build(Holder, {"tests": value}, str(folder))
    places = [f"{'.'.join(map(str, place))}: {message}" for place, message in faults]
    return holder and shown(holder)["tests"], places


DEFAULTS: dict[str, Any] = {"fields": [], "id": None, "tokens": "words", "action": None}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("s/one.jsonl.gz", {"one": {"paths": ["s/one.jsonl.gz"], **DEFAULTS}}),
        (
            ["s/*.json*", "s/v1.2.CSV"],
            {
                "one": {"paths": ["s/one.jsonl.gz"], **DEFAULTS},
                "two": {"paths": ["s/two.json"], **DEFAULTS},
                "v1.2": {"paths": ["s/v1.2.CSV"], **DEFAULTS},
            },
        ),
        (
            {
                "a": "x.jsonl",
                "b": ["y.csv", "z*.csv"],
                "c.d_e-F0": {
                    "paths": "/w.json",
                    "fields": ["q", "{q} {a}"],
                    "id": "task_id",
                    "tokens": "code",
                    "action": "cut",
                },
                "f": {"paths": ["v.json"], "fields": {"all": "{q}"}},
            },
            {
                "a": {"paths": ["x.jsonl"], **DEFAULTS},
                "b": {"paths": ["y.csv", "z*.csv"], **DEFAULTS},
                "c.d_e-F0": {
                    "paths": ["/w.json"],
                    "fields": ["q", "{q} {a}"],
                    "id": "task_id",
                    "tokens": "code",
                    "action": "cut",
                },
                "f": {"paths": ["v.json"], **DEFAULTS, "fields": {"all": "{q}"}},
            },
        ),
    ],
)
def test_sets(tmp_path: Path, value: Any, expected: Any) -> None:
    (tmp_path / "s").mkdir()
    for name in ("two.json", "one.jsonl.gz", "v1.2.CSV"):
        (tmp_path / "s" / name).touch()
    found, faults = sets_of(tmp_path, value)
    assert not faults
    assert found == expected
    assert list(found) == list(expected)


def test_a_set_that_is_ready_is_taken(tmp_path: Path) -> None:
    test_set = made(tmp_path, paths="a.jsonl", id="x")
    holder, faults = build(Holder, {"tests": {"a": test_set}})
    assert not faults
    assert holder is not None
    assert holder.tests == {"a": test_set}


PATHS = "expected a path, a list of paths, or a map with paths"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, ["tests: expected at least one test set"]),
        ([], ["tests: expected at least one file"]),
        (
            None,
            ["tests: expected a path, a list of paths, or a map of names and test sets, got null"],
        ),
        ("no.jsonl", ["tests: no file matches no.jsonl"]),
        (["a/test.jsonl", 3], ["tests.1: expected a text, got 3"]),
        (
            ["b/test.csv.gz", "a/test.jsonl"],
            [
                'tests: a/test.jsonl and b/test.csv.gz would both be called "test": name them by '
                "a map"
            ],
        ),
        (
            "a/odd name.jsonl",
            ["tests: a/odd name.jsonl: name it by a map: expected letters, digits, _ - . only"],
        ),
        (
            {"a b": "x"},
            ['tests: "a b" is no name of a test set: expected letters, digits, _ - . only'],
        ),
        ({"é": "x"}, ['tests: "é" is no name of a test set: expected letters, digits, _ - . only']),
        ({"": "x"}, ['tests: "" is no name of a test set: expected letters, digits, _ - . only']),
        ({"a": None}, [f"tests.a: {PATHS}, got null"]),
        ({"a": 3.5}, [f"tests.a: {PATHS}, got 3.5"]),
        ({"a": []}, ["tests.a: expected at least one file"]),
        ({"a": {}}, ['tests.a: expected the parameter "paths", which is missing']),
        ({"a": ["x", 3]}, ["tests.a.1: expected a text, got 3"]),
        (
            {"a": {"paths": "x", "fields": "q"}},
            ['tests.a.fields: expected a list or a map, got "q"'],
        ),
        ({"a": {"paths": "x", "fields": ["q", "q"]}}, ['tests.a.fields: "q" is listed twice']),
        (
            {"a": {"paths": "x", "fields": {"p": "{q"}}},
            ['tests.a.fields.p: a "{" without its partner in "{q": write {{ for a brace'],
        ),
        ({"a": {"paths": "x", "id": " "}}, ['tests.a.id: expected the path of a field, got " "']),
        (
            {
                "a": {"paths": "x", "feilds": ["q"]},
                "b": {"paths": "x", "fields": ["q", "q}"], "tokens": "chars"},
                "c": {"paths": "x", "action": "keep"},
                "d": 3,
            },
            [
                'tests.a.feilds: unknown parameter; did you mean "fields"? known: action, fields, '
                "id, paths, tokens",
                'tests.b.fields.1: a "}" without its partner in "q}": write }} for a brace',
                "tests.b.tokens: expected 'words' or 'code', got \"chars\"",
                "tests.c.action: expected 'drop', 'cut' or 'flag', got \"keep\"",
                f"tests.d: {PATHS}, got 3",
            ],
        ),
    ],
)
def test_faults_of_sets(tmp_path: Path, value: Any, expected: list[str]) -> None:
    for name in ("a/test.jsonl", "b/test.csv.gz", "a/odd name.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert sets_of(tmp_path, value) == (None, expected)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("", "expected a path or a template"),
        (" ", "expected a path or a template"),
        ("{", 'a "{" without its partner'),
        ("{a}}", 'a "}" without its partner'),
        ("{a{b}", 'a "{" without its partner'),
        ("{ }", "a hole without a path"),
        ("{{a}}", "has no hole"),
    ],
)
def test_entries_that_are_none(entry: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Field.parse(entry)


def test_python_says_what_is_wrong_with_an_entry_too(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(GOOD)
    test_set = TestSet(made(tmp_path, paths="a.jsonl").paths, fields=("{q",))
    with pytest.raises(ConfigError, match='fields: a "{" without its partner'):
        read_items(test_set)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.b", ["1", "2", "3"]),
        ("a[*].b", ["1", "2", "3"]),
        ("a[1].b", ["2", "3"]),
        ("a[1].b[0]", ["2"]),
        ("a.b[0]", ["2"]),
        ("a[1]b", ["2", "3"]),
        ("a[2].b", []),
        ("a[-1].b", []),
        (f"a[{'9' * 5000}].b", []),
        ("a.c", []),
        ("a.b.c", []),
        ("x.y.z", ["4"]),
        ("x.", []),
        ("x..y", []),
        (".", []),
        ("[0]", []),
    ],
)
def test_paths(path: str, expected: list[str]) -> None:
    assert (
        texts({"a": [{"b": "1"}, {"b": ["2", "3"]}], "x": {"y.z": 4, "y": {"z": 5}}}, path)
        == expected
    )


KEYS = st.text("ab.[]0*é ", max_size=4)
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text("xyü\n", max_size=3)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)


PLAIN = st.text("abé ", min_size=1, max_size=2)
TEXTS = st.recursive(
    st.text("xyü\n", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAIN, inner, max_size=3),
)


@given(st.dictionaries(PLAIN, TEXTS, max_size=4))
def test_every_string_is_in_the_group_that_its_path_finds(item: dict[str, Any]) -> None:
    def count(value: Any) -> int:
        inner = value.values() if isinstance(value, dict) else value
        return 1 if isinstance(value, str) else sum(map(count, inner))

    groups = strings(item)
    assert sum(map(len, groups.values())) == count(item)
    assert set(groups) == set(known(item))
    for path, group in groups.items():
        try:
            found = texts(item, path)
        except ValueError:  # texts and objects in one list
            continue
        assert found == group


@given(st.dictionaries(PLAIN, VALUES, max_size=3), st.data())
def test_the_path_of_a_scalar_finds_it_alone(item: dict[str, Any], data: st.DataObject) -> None:
    """Keys without dots and brackets: nothing else can be meant."""
    path = ""
    current: Any = item
    while isinstance(current, (dict, list)) and current:
        if isinstance(current, dict):
            key = data.draw(st.sampled_from(sorted(current)))
            if not key or set(key) & set(".[]"):
                return
            path, current = f"{path}.{key}" if path else key, current[key]
        else:
            place = data.draw(st.integers(0, len(current) - 1))
            path, current = f"{path}[{place}]", current[place]
    if path and not isinstance(current, (dict, list)):
        written = current if isinstance(current, str) else json.dumps(current)
        assert texts(item, path) == ([] if current is None else [written])


@given(OBJECTS, st.text("ab.[]*0é {}", max_size=8))
def test_no_path_breaks(item: dict[str, Any], path: str) -> None:
    try:
        found = texts(item, path)
    except ValueError as error:
        assert "is an object" in str(error)
    else:
        assert all(isinstance(text, str) for text in found)


@given(st.text("a{} ", max_size=8))
def test_a_template_doubled_is_itself(text: str) -> None:
    entry = text.replace("{", "{{").replace("}", "}}") + "{a}"
    assert Field.parse(entry).text({"a": "x"}) == text + "x"


def csv_of(rows: Rows) -> bytes:
    file = io.BytesIO()
    pa_csv.write_csv(pa.Table.from_pylist(rows), file)
    return file.getvalue()


WRITERS: dict[str, Callable[[Rows], bytes]] = {
    "jsonl": lines,
    "json": lambda rows: json.dumps(rows, ensure_ascii=False, indent=2).encode(),
    "parquet": parquet,
    "csv": csv_of,
}


def test_one_set_in_every_format_is_one_set(tmp_path: Path) -> None:
    rows = [
        {"id": f"n{place}", "q": text, "a": text[::-1]}
        for place, text in enumerate(
            ['a "b", c', "日本\r\n語", "\u2028 x \x85", "'\t\\", "{}", "é😀"]
        )
    ]
    expected = None
    for ending, write in WRITERS.items():
        (tmp_path / f"a.{ending}").write_bytes(write(rows))
        found = read_items(made(tmp_path, paths=f"a.{ending}"))
        assert expected in (None, found), ending
        expected = found
    assert expected is not None
    assert [item.parts[0].text for item in expected] == [row["q"] for row in rows]


def page() -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The item of docs/contamination.md, and what it says of the entries."""
    text = (ROOT / "docs" / "contamination.md").read_text("utf-8")
    item = re.search(r"^```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    table = re.search(r"^\| entry \| part \|\n.*?\n\n", text, re.MULTILINE | re.DOTALL)
    assert item and table
    return json.loads(item[1]), re.findall(r"^\| `(.*?)` \| (.*) \|$", table[0], re.MULTILINE)


def test_the_page_tells_the_truth(tmp_path: Path) -> None:
    item, told = page()
    assert len(told) > 9
    for entry, part in told:
        field = Field.parse(entry)
        if part.startswith("an error"):
            with pytest.raises(ValueError, match="is an object"):
                field.text(item)
        else:
            expected = None if part == "none" else part.strip("`").replace(r"\n", "\n")
            assert field.text(item) == expected, entry
    (tmp_path / "a.jsonl").write_bytes(lines([item]))
    [read] = read_items(made(tmp_path, paths="a.jsonl"))
    names = ["messages.role", "messages.content", "choices.text", "choices.label"]
    assert (read.id, [part.name for part in read.parts]) == ("b/1", names)
