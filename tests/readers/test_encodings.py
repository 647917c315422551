"""Sources in other encodings than UTF-8: lines, whole files, what cannot be decoded."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from encodings.aliases import aliases
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cleanpipe.encodings import BY_LINE, codec_name
from cleanpipe.errors import ConfigError
from cleanpipe.parse import document_of, parse_spec
from cleanpipe.plan import make_plan
from cleanpipe.shards import discover
from cleanpipe.sources import Source
from tests.readers.conftest import read_source

Load = Callable[..., Any]
TEXTS = {
    "gb18030": "今天天气很好，\U00020000 한 é",
    "gbk": "今天天气很好",
    "big5": "今天天氣很好，功許蓋",  # trail bytes of 0x5C: a backslash in ASCII
    "shift_jis": "今日は天気がいい。ｱｲｳ ソ能表",  # as there
    "euc_jp": "今日は天気がいい。",
    "euc_kr": "오늘은 날씨가 좋습니다.",
    "windows-1251": "Привет, мир",
    "iso-8859-1": "Ça va, señor",
    "koi8-r": "Привет",
}
PLANES = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x30000)]))


@pytest.mark.parametrize("codec", sorted(BY_LINE))
def test_bytes_can_be_cut_into_lines(codec: str) -> None:
    assert codec_name(codec) == codec
    ascii_bytes = bytes(range(128))
    assert ascii_bytes.decode(codec) == ascii_bytes.decode("ascii")
    written = PLANES.replace("\n", "").encode(codec, "ignore")
    assert b"\n" not in written
    # Nor does a decoder take the end of a line for the rest of a character.
    for first in range(128, 256):
        for before in (bytes([first]), b"\x81\x30" + bytes([first]), b"\x8f" + bytes([first])):
            with contextlib.suppress(UnicodeError):
                assert (before + b"\n").decode(codec).count("\n") == 1


@pytest.mark.parametrize("codec", sorted({codec_name(name) or "" for name in aliases} - BY_LINE))
def test_others_cannot(codec: str) -> None:
    """Those left out write something else, keep a state, or are only near."""
    if not codec or codec.startswith("iso2022") or codec in ("utf-8-sig", "idna"):
        return
    try:
        same = bytes(range(128)).decode(codec) == bytes(range(128)).decode("ascii")
    except UnicodeError:
        same = False
    assert not same or b"\n" in PLANES.encode(codec, "ignore").replace(b"\n", b"", 1)


@pytest.mark.parametrize("encoding", TEXTS)
@pytest.mark.parametrize("shard_bytes", [1, 7, 1000])
def test_lines(load: Load, encoding: str, shard_bytes: int) -> None:
    text = TEXTS[encoding]
    content = f"{text}\r\n\n {text}\nlast".encode(encoding)
    reading = load("a.txt", content, shard_bytes, document="line", encoding=encoding)
    assert [(d["row"], d["text"]) for d in reading.documents] == [
        (0, text),
        (2, f" {text}"),
        (3, "last"),
    ]
    assert load("b.txt", content, encoding=encoding).texts == [f"{text}\r\n\n {text}\nlast"]
    rows = [{"text": text, text: number} for number in range(3)]
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode(encoding)
    reading = load("a.jsonl", lines, shard_bytes, encoding=encoding)
    assert reading.documents == [
        {"row": n, "id": f"a.jsonl:{n}", "url": None, "text": text, text: n, "extra": None}
        for n in range(3)
    ]
    assert not reading.dead and not reading.replaced


@settings(max_examples=50)
@given(
    st.sampled_from(["gb18030", "utf-16", "utf-16-le", "utf-32", "utf-7"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)
def test_a_whole_file_may_be_in_any(
    tmp_path_factory: pytest.TempPathFactory, encoding: str, text: str
) -> None:
    folder = tmp_path_factory.mktemp("files")
    (folder / "a.txt").write_bytes(text.encode(encoding))
    reading = read_source(Source("s", ("a.txt",), str(folder), encoding=encoding), 1, 1)
    assert reading.texts == [text.removeprefix("\ufeff")]


@pytest.mark.parametrize("shard_bytes", [1, 1000])
def test_what_cannot_be_decoded_is_dead(load: Load, shard_bytes: int) -> None:
    bad = "好".encode("gbk") + b"\xff\x20"
    good = '{"text": "好"}'.encode("gbk")
    reading = load("a.txt", b"a\n" + bad + b"\nb\n", shard_bytes, document="line", encoding="gbk")
    assert [(d["row"], d["text"]) for d in reading.documents] == [(0, "a"), (2, "b")]
    [dead] = reading.dead
    assert (dead.reason, dead.row, dead.offset, dead.raw) == ("undecodable", 1, 2, bad)
    assert dead.message == "not gbk at byte 2: illegal multibyte sequence"
    content = good + b"\n" + bad + b"\n" + good + b"\n{}\n"
    reading = load("a.jsonl", content, shard_bytes, encoding="gbk")
    assert [(d["row"], d["text"]) for d in reading.documents] == [(0, "好"), (2, "好")]
    assert [(d.reason, d.row, d.offset, d.raw) for d in reading.dead] == [
        ("undecodable", 1, len(good) + 1, bad),
        ("no_text", 3, 2 * len(good) + len(bad) + 3, b"{}"),
    ]
    [dead] = load("b.txt", bad, encoding="gbk").dead
    assert (dead.reason, dead.row, dead.offset, dead.raw) == ("undecodable", 0, 0, bad)


def test_byte_order_marks(load: Load) -> None:
    mark = "\ufeff"
    for encoding in ("utf-8", "gb18030"):
        text = f"{mark}好\n{mark}b".encode(encoding)
        assert load("a.txt", text, encoding=encoding).texts == [f"好\n{mark}b"]
        reading = load("a.txt", text, document="line", encoding=encoding)
        assert reading.texts == ["好", f"{mark}b"]
        line = f'{mark}{{"text": "好"}}\n'.encode(encoding)
        assert load("a.jsonl", line, encoding=encoding).texts == ["好"]
    for encoding in ("utf-16-le", "utf-16-be", "utf-16", "utf-8-sig"):
        assert load("a.txt", f"{mark}好".encode(encoding), encoding=encoding).texts in (["好"],)
    # What would be the mark of UTF-8 is three letters here.
    assert load("a.txt", "п»їа".encode("cp1251"), encoding="cp1251").texts == ["п»їа"]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "a.jsonl",
            {"encoding": "utf-16"},
            "`a.jsonl` has a row a line, and in utf-16 lines cannot be told by their bytes: "
            "convert it to UTF-8 first",
        ),
        (
            "a.txt",
            {"encoding": "UTF-16LE", "document": "line"},
            "`a.txt` has a row a line, and in utf-16-le lines cannot be told by their bytes: "
            "convert it to UTF-8 first, or read each file as one document",
        ),
        ("a.parquet", {"encoding": "gbk"}, "`a.parquet` is parquet, which is always UTF-8"),
    ],
)
def test_refused(tmp_path: Path, name: str, options: dict[str, Any], message: str) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(ConfigError) as error:
        discover([Source("s", (name,), str(tmp_path), **options)])
    assert str(error.value).endswith(f"sources.s.encoding: {message}")


@pytest.mark.parametrize("name", ["gb18031", "base64", "a\0b", "undefined"])
def test_no_such_encoding(name: str) -> None:
    spec = parse_spec(document_of({"sources": {"s": {"paths": "a", "encoding": name}}}), ".")
    [message] = [fault.message for fault in spec.faults if "encoding" in fault.path]
    assert message.startswith(f'no encoding is called "{name}"; ')


def test_the_plan_says_it() -> None:
    tree: dict[str, Any] = {
        "sources": {"s": {"paths": "a"}},
        "stages": [{"length": {"chars": [1, None]}}],
    }
    plain = make_plan(parse_spec(document_of(tree), "."))
    tree["sources"]["s"]["encoding"] = "gbk"
    other = make_plan(parse_spec(document_of(tree), "."))
    assert plain.fingerprint != other.fingerprint
    assert other.described["sources"]["s"]["encoding"] == "gbk"
