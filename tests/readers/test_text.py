"""Plain text: a file or a line is a document."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import pytest

from cleanpipe.readers import text

Load = Callable[..., Any]
U = "\ufffd"


@pytest.mark.parametrize(
    ("content", "expected", "replaced"),
    [
        (b"", "", 0),
        (b"a\r\n\r\nb\n", "a\r\n\r\nb\n", 0),
        (b"\xef\xbb\xbfa", "a", 0),
        (b"\xffa\xe4\xbd\n", f"{U}a{U}\n", 1),
        (b"a\0b", "a\0b", 0),
    ],
)
def test_a_file(load: Load, content: bytes, expected: str, replaced: int) -> None:
    for name, data in (("a.txt", content), ("a.txt.gz", gzip.compress(content))):
        reading = load(name, data, shard_bytes=1)
        assert reading.documents == [{"row": 0, "id": name, "url": None, "text": expected}]
        assert reading.replaced == replaced
        assert reading.columns.schema.names == []


def test_a_file_that_breaks_off_is_dead(load: Load) -> None:
    content = gzip.compress(b"abc" * 1000)
    reading = load("a.txt.gz", content[:-3])
    [dead] = reading.dead
    assert (reading.documents, dead.reason, dead.raw) == ([], "truncated", b"abc" * 1000)


def test_a_file_too_long_is_dead(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "MAX_DOCUMENT", 100)
    assert load("a.txt", b"x" * 100).texts == ["x" * 100]
    assert load("a.txt", b"x" * 101).reasons == [("too_long", 0)]


@pytest.mark.parametrize("shard_bytes", [1, 2, 5, 100])
@pytest.mark.parametrize("batch_bytes", [1, 100])
def test_lines(load: Load, shard_bytes: int, batch_bytes: int) -> None:
    content = "\ufeffone\r\n\n \t\n\u3000\n two \r\r\n\u2028x\x85y\x0b\x0c\n你好\nlast".encode()
    reading = load("a.txt", content, shard_bytes, batch_bytes, document="line")
    assert [(d["row"], d["id"], d["text"]) for d in reading.documents] == [
        (0, "a.txt:0", "one"),
        (3, "a.txt:3", "\u3000"),
        (4, "a.txt:4", " two \r"),
        (5, "a.txt:5", "\u2028x\x85y\x0b\x0c"),
        (6, "a.txt:6", "你好"),
        (7, "a.txt:7", "last"),
    ]
    assert not reading.dead


@pytest.mark.parametrize("shard_bytes", [1, 1000])
def test_ill_formed_lines(load: Load, shard_bytes: int) -> None:
    reading = load("a.txt", b"a\xff\nb\n\xc3\n\xa9\n", shard_bytes, document="line")
    assert reading.texts == [f"a{U}", "b", U, U]
    assert reading.replaced == 3
