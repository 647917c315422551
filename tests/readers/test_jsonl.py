"""JSON lines: which lines are documents, which are dead, and what goes to ``extra``."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cleanpipe.columns import Columns, SourceRoles
from cleanpipe.readers import Dead, jsonl, lines
from cleanpipe.readers.inputs import InputFile, Piece

Load = Callable[..., Any]
U = "\ufffd"

GOOD = b'{"text": "good", "id": "g"}'

# line, text or (reason, part of the message), documents with replacements
LINES: list[tuple[bytes, str | tuple[str, str], int]] = [
    (b'{"text": "a"}', "a", 0),
    (b' \t{"text": "a"} \t', "a", 0),
    (b'{"text": "a"}\r', "a", 0),
    (b'{"text": ""}', "", 0),
    (b'{"te\\u0078t": "a"}', "a", 0),
    (b'{"text": "\\u0000\\n\\/"}', "\0\n/", 0),
    (b'{"text": "\xe4\xbd\xa0\\ud83d\\ude00"}', "你😀", 0),
    (b'{"text": 1, "text": "last"}', "last", 0),
    (b'{"text": "first", "text": null}', ("no_text", "`text` is null"), 0),
    (b'{"text": null}', ("no_text", "`text` is null"), 0),
    (b"{}", ("no_text", "there is no `text`"), 0),
    (b'{"Text": "a"}', ("no_text", "there is no `text`"), 0),
    (b'{"text": 5}', ("no_text", "`text` is a number"), 0),
    (b'{"text": ["a"]}', ("no_text", "`text` is an array"), 0),
    (b'{"text": {"a": 1}}', ("no_text", "`text` is an object"), 0),
    (b'{"text": true}', ("no_text", "`text` is a boolean"), 0),
    # ill-formed UTF-8: a U+FFFD for each maximal subpart
    (b'{"text": "a\xffb"}', f"a{U}b", 1),
    (b'{"text": "\xe4\xbd"}', U, 1),
    (b'{"text": "\xed\xa0\x80"}', U * 3, 1),
    (b'{"text": "\xc0\xaf"}', U * 2, 1),
    (b'{"text": "\xf0\x9f\x98x"}', f"{U}x", 1),
    (b'{"text": "a", "other": "\xff"}', "a", 1),
    (b'{"text": "a", "other": [{"deep": "\xff"}]}', "a", 1),
    (b'{"text": "a"}\xff', ("bad_json", "trailing"), 0),
    # lone surrogates
    (b'{"text": "\\ud800"}', U, 1),
    (b'{"text": "\\udc00 and more text"}', f"{U} and more text", 1),
    (b'{"text": "\\ud800\\ud83d\\ude00"}', f"{U}😀", 1),
    (b'{"text": "\\\\ud800"}', "\\ud800", 0),
    (b'{"text": "\\\\\\ud800!"}', f"\\{U}!", 1),
    (b'{"text": "a", "other": {"k": "\\uDFFF"}}', "a", 1),
    (b'{"text": "\\ud8"}', ("bad_json", "escape"), 0),
    # no JSON, or no object
    (b"[]", ("bad_json", "array"), 0),
    (b'"text"', ("bad_json", "str"), 0),
    (b"null", ("bad_json", "null"), 0),
    (b'{"text": "a"', ("bad_json", "truncated"), 0),
    (b'{"text": "a",}', ("bad_json", "malformed"), 0),
    (b"{'text': 'a'}", ("bad_json", "malformed"), 0),
    (b'{"text": "a\tb"}', ("bad_json", "malformed"), 0),
    (b'{"text": "a\\x"}', ("bad_json", "escape"), 0),
    (b'{"text": "a"}{"text": "b"}', ("bad_json", "trailing"), 0),
    (b'{"text": "a"} {"text": "b"}', ("bad_json", "trailing"), 0),
    (b'{"text": "a", "n": NaN}', ("bad_json", "malformed"), 0),
    (b'{"text": "a", "n": Infinity}', ("bad_json", "malformed"), 0),
    (b'{"text": "a", "n": -Infinity}', ("bad_json", "malformed"), 0),
    (b'{"text": "a", "n": 01}', ("bad_json", "number"), 0),
    (b'{"text": "a", "n": 1.}', ("bad_json", "number"), 0),
    (b'{"text": "a", "n": +1}', ("bad_json", "malformed"), 0),
    (b'{"text": "a"} // why', ("bad_json", "trailing"), 0),
    (b"\x00", ("bad_json", "malformed"), 0),
    (b"\x0c", ("bad_json", "malformed"), 0),
    # nesting
    (b'{"text": "a", "n": ' + b"[" * 255 + b"]" * 255 + b"}", "a", 0),
    (b'{"text": "a", "n": ' + b"[" * 256 + b"]" * 256 + b"}", ("bad_json", "deeper"), 0),
    (b'{"text": "a", "n": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", ("bad_json", "deeper"), 0),
    (b"[" * 100_000, ("bad_json", "deeper"), 0),
    (b'{"a":' * 100_000, ("bad_json", "deeper"), 0),
    (b'{"text": "' + b"[" * 1000 + b'"}', "[" * 1000, 0),
]


@pytest.mark.parametrize(("line", "expected", "replaced"), LINES)
@pytest.mark.parametrize("after", [0, 2])
def test_a_line(
    load: Load, line: bytes, expected: str | tuple[str, str], replaced: int, after: int
) -> None:
    reading = load("a.jsonl", GOOD + b"\n" + line + (b"\n" + GOOD) * after)
    wrong = [(dead.row, dead.offset, dead.reason) for dead in reading.dead]
    if isinstance(expected, str):
        assert reading.texts == ["good", expected, *["good"] * after]
        assert not wrong
    else:
        assert reading.texts == ["good", *["good"] * after]
        assert wrong == [(1, len(GOOD) + 1, expected[0])]
        assert expected[1] in reading.dead[0].message
        assert reading.dead[0].raw == line[: 64 * 1024]
    assert reading.replaced == replaced


def test_a_line_with_no_text_column_at_all_is_not_asked_for(load: Load) -> None:
    # Only the table above may name a text that no line has: here the first lines do.
    reading = load("a.jsonl", GOOD + b"\n{}\n")
    assert reading.reasons == [("no_text", 1)]


def test_rows_count_blank_lines(load: Load) -> None:
    content = b'\n{"text": "a"}\n\r\n  \t\n{"text": "b"}\nbad\n\n{"text": "c"}'
    reading = load("a.jsonl", content)
    assert [(d["row"], d["text"]) for d in reading.documents] == [(1, "a"), (4, "b"), (7, "c")]
    assert reading.reasons == [("bad_json", 5)]
    assert reading.dead[0].offset == content.index(b"bad")


def test_one_value_a_line(load: Load) -> None:
    # decode_lines would find two values on two lines in each of these.
    pretty = b'{"text":\n"a"}\n{"text": "b"}\n'
    assert load("a.jsonl", pretty).reasons == [("bad_json", 0), ("bad_json", 1)]
    assert load("a.jsonl", b'{"text": "a"}{"text": "b"}\n\n{"text": "c"}\n').texts == ["c"]


def test_byte_order_mark(load: Load) -> None:
    reading = load("a.jsonl", b"\xef\xbb\xbf" + GOOD + b"\nbad\n")
    assert reading.texts == ["good"]
    assert reading.dead[0].offset == 3 + len(GOOD) + 1


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("null", "a.jsonl:0"),
        ('"x"', "x"),
        ('""', ""),
        ("7", "7"),
        ("-12345678901234567890123", "-12345678901234567890123"),
        ("1.5", "1.5"),
        ("1.0", "1.0"),
        ("true", "true"),
        ('{"a": [1]}', '{"a": [1]}'),
        ("9" * 5000, "9" * 5000),
        ("1e999", "1e999"),
        ('"\\ud800"', U),
    ],
)
def test_ids(load: Load, raw: str, expected: str) -> None:
    for more in ("", ', "n": [1]', ', "n": 1'):
        content = f'{{"text": "a", "id": {raw}{more}}}\n{{"text": "b"}}\n'.encode()
        reading = load("a.jsonl", content)
        assert [d["id"] for d in reading.documents] == [expected, "a.jsonl:1"]


def test_id_and_url_in_one_column(load: Load) -> None:
    content = b'{"text": "a", "url": "http://a"}\n{"text": "b"}\n{"text": "c", "url": 5}\n'
    reading = load("a.jsonl", content, id="url")
    assert [d["id"] for d in reading.documents] == ["http://a", "a.jsonl:1", "5"]
    assert [d["url"] for d in reading.documents] == ["http://a", None, None]
    assert reading.columns.schema.names == ["url", "extra"]
    assert [d["extra"] for d in reading.documents] == [None, None, '{"url":5}']


HEAD = (
    b'{"text": "0", "s": "x", "i": 1, "f": 1.5, "b": true, "n": [1], "z": null, "m": "m"}\n' * 1000
)

# members of a line after the sampled head; its columns; its extra; misfits
VALUES: list[tuple[str, dict[str, Any], str | None]] = [
    ("", {}, None),
    ('"s": "y", "i": 2, "f": 3, "b": false', {"s": "y", "i": 2, "f": 3.0, "b": False}, None),
    ('"s": null, "i": null, "f": null, "b": null, "n": null, "new": null', {}, None),
    ('"s": 1', {}, '{"s":1}'),
    ('"s": {"a": [1, 2 ]}', {}, '{"s":{"a": [1, 2 ]}}'),
    ('"i": 1.0', {}, '{"i":1.0}'),
    ('"i": "1"', {}, '{"i":"1"}'),
    ('"i": 9223372036854775807', {"i": 2**63 - 1}, None),
    ('"i": 9223372036854775808', {}, '{"i":9223372036854775808}'),
    ('"i": -9223372036854775808', {"i": -(2**63)}, None),
    ('"f": 9007199254740992', {"f": 2.0**53}, None),
    ('"f": 9007199254740993', {}, '{"f":9007199254740993}'),
    ('"f": 9007199254740994', {"f": 2.0**53 + 2}, None),
    ('"f": 1e999', {}, '{"f":1e999}'),
    ('"f": 1E2', {"f": 100.0}, None),
    ('"f": true', {}, '{"f":true}'),
    ('"b": 0', {}, '{"b":0}'),
    ('"n": [{"x":1}], "z": "now", "new": 7', {}, '{"n":[{"x":1}],"new":7,"z":"now"}'),
    ('"q\\"": 1, "\\u00e9": 2', {}, '{"q\\"":1,"é":2}'),
    ('"i": 1, "i": "two"', {}, '{"i":"two"}'),
    ('"i": "one", "i": 2', {"i": 2}, None),
    ('"m": 5', {}, '{"renamed":5}'),
    ('"m": 5, "renamed": 6', {}, '{"m":5,"renamed":6}'),
]


@pytest.mark.parametrize(("members", "values", "extra"), VALUES)
def test_columns_and_extra(
    load: Load, members: str, values: dict[str, Any], extra: str | None
) -> None:
    line = '{"text": "t"' + (", " if members else "") + members + "}"
    reading = load("a.jsonl", HEAD + line.encode(), rename={"m": "renamed"})
    assert reading.columns.schema.names == ["s", "i", "f", "b", "renamed", "extra"]
    last = reading.documents[-1]
    expected = {"s": None, "i": None, "f": None, "b": None, "renamed": None} | values
    assert {key: last[key] for key in expected} == expected
    assert last["extra"] == extra
    assert reading.misfits == 1000 + (len(json.loads(extra)) if extra else 0)  # 1000 times "n"


def test_a_line_too_long_is_dead(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_DOCUMENT", 3 << 20)
    long = b'{"text": "' + b"x" * (5 << 20) + b'"}'
    for content in (GOOD + b"\n" + long + b"\n" + GOOD + b"\n", GOOD + b"\n" + long):
        reading = load("a.jsonl", content, shard_bytes=1 << 20)
        assert reading.reasons == [("too_long", 1)]
        assert reading.dead[0].offset == len(GOOD) + 1
        assert reading.dead[0].raw == long[: 64 * 1024]
        assert [d["row"] for d in reading.documents] == [0, 2][: content.count(GOOD)]


def _pieces(path: Path, data: bytes, step: int) -> list[Piece]:
    path.write_bytes(data)
    size = len(data)
    file = InputFile(0, "s", "f", str(path), "jsonl", None, size, "", True)
    ends = [*range(0, size, step), size]
    pieces = []
    row = 0
    for start, stop in itertools.pairwise(ends):
        piece = Piece(file, start, stop, row)
        row += lines.count(piece)
        pieces.append(piece)
    return pieces


LINE = st.sampled_from([*(line for line, _, _ in LINES if len(line) < 100), b"", b" ", GOOD])


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINE, max_size=12), st.integers(1, 60), st.booleans(), st.booleans())
def test_ranges_and_the_three_ways_agree(
    tmp_path: Path, content: list[bytes], step: int, end: bool, loose: bool
) -> None:
    """Any byte ranges, and the fast way or the slow one, give the same documents."""
    data = b"\n".join(content) + (b"\n" if end else b"")
    columns = Columns(
        pa.schema([("n", pa.int64()), ("extra", pa.large_string())]),
        {"s": {"n": "n"}},
        {"s": SourceRoles("text", "id", None)},
        {"s": ("other",) if loose else ()},
    )

    def found(pieces: list[Piece], slow: bool = False) -> tuple[Any, ...]:
        documents: list[Any] = []
        dead: list[Any] = []
        replaced = misfits = 0
        for piece in pieces:
            reader = jsonl._Reader(piece, columns)
            if slow:
                reader.lines = None
            for block in lines.blocks(piece):
                assert not isinstance(block, Dead)
                batch = reader.read(block)
                documents += zip(batch.table.to_pylist(), batch.columns.to_pylist(), strict=True)
                dead += batch.dead
                replaced += batch.replaced
                misfits += batch.misfits
        return documents, dead, replaced, misfits

    whole = found(_pieces(tmp_path / "f", data, max(1, len(data))))
    assert whole == found(_pieces(tmp_path / "f", data, step))
    assert whole == found(_pieces(tmp_path / "f", data, step), slow=True)
    rows = sorted([d[0]["row"] for d in whole[0]] + [d.row for d in whole[1]])
    spans = data.split(b"\n")
    assert rows == [row for row, line in enumerate(spans) if line.strip(b" \t\r")]


@pytest.mark.parametrize("batch_bytes", [1, 10, 1000, 1 << 20])
def test_batches(load: Load, batch_bytes: int) -> None:
    content = b"".join(
        b'{"text": "%s", "k": %d}\nbad\n' % (b"x" * (place * 7 % 50), place) for place in range(300)
    )
    reading = load("a.jsonl", content, batch_bytes=batch_bytes)
    whole = load("a.jsonl", content)
    assert reading.documents == whole.documents
    assert reading.dead == whole.dead
    assert len(reading.documents) == 300
    other = 8 + 0  # `k`, and `extra` that is null
    sizes = [
        sum(len(text) + other for text in b.table.column("text").to_pylist())
        for b in reading.batches
    ]
    for size, batch in zip(sizes, reading.batches, strict=True):
        assert size <= batch_bytes or batch.table.num_rows == 1
    if batch_bytes == 1000:  # greedy: no two neighbours would fit together
        first = [len(b.table.column("text")[0].as_py()) + other for b in reading.batches]
        assert all(a + b > 1000 for a, b in zip(sizes, first[1:], strict=False))
