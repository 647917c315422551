"""``domains``: which addresses are listed, labels for later stages, lists at fault."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cleanpipe as cp
from cleanpipe.document import frozen
from cleanpipe.filters.domains import Domains
from cleanpipe.parameters import build
from cleanpipe.units import Units

from ..times import ratio
from .table import faults

LISTS = {
    "ut1/bad/domains": "# a comment\nbad.com\nDEEP.under.org\n1.2.3.4\nbücher.example\nco.zz\n",
    "ut1/bad/urls": (
        "good.com/~bad/\nwww.forum.net/t\nhttps://q.com/view?id=3\n例子.中国/坏\nonly.com/\n"
    ),
    "ut1/bad/usage": "black\n",
    "ut1/LICENSE.pdf": "%PDF",
    "ok": "fine.bad.com\ngood.com/~bad/but/fine\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in LISTS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def built(folder: Path, parameters: Mapping[str, Any]) -> Domains:
    stage, found = build(Domains, frozen(parameters), str(folder))
    assert not found and isinstance(stage, Domains), found
    return stage


def units(*urls: str | None) -> Units:
    known = {"url": pa.array(urls, pa.large_string())}
    return Units(pa.array(["text"] * len(urls), pa.large_string()), known)


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("http://bad.com/", "bad.com"),
        ("http://BAD.com.:80/x", "bad.com"),
        ("https://u:p@www.bad.com/x", "bad.com"),
        ("http://a.b.c.bad.com", "bad.com"),
        ("http://notbad.com/", None),
        ("http://bad.com.evil.org/", None),
        ("http://bad.co/", None),
        ("http://x.com/?u=http://bad.com", None),
        ("http://x.com/bad.com", None),
        ("http://x.com/@bad.com", None),
        ("http://deep.under.org/", "deep.under.org"),
        ("http://under.org/", None),
        ("http://1.2.3.4/x", "1.2.3.4"),
        ("http://9.1.2.3.4/x", "1.2.3.4"),  # no IP address, so a host under it
        ("http://1.2.3.45/", None),
        ("http://[::1]/", None),
        ("http://bücher.example/", "xn--bcher-kva.example"),
        ("http://shop.xn--BCHER-kva.example/", "xn--bcher-kva.example"),
        ("http://a.co.zz/", "co.zz"),
        ("http://good.com/~bad", "good.com/~bad"),
        ("http://www.good.com/~bad/", "good.com/~bad"),
        ("http://good.com:8080/~bad/x?y", "good.com/~bad"),
        ("http://good.com/~bad?y", "good.com/~bad"),
        ("http://good.com/~bad#y", "good.com/~bad"),
        ("http://good.com/~bad2", None),
        ("http://good.com/~BAD", None),
        ("http://good.com/", None),
        ("http://x.good.com/~bad/", None),
        ("http://forum.net/t/1", "forum.net/t"),
        ("http://q.com/view?id=3&x", "q.com/view?id=3"),
        ("http://q.com/view?id=31", None),
        ("http://q.com/view?x&id=3", None),
        ("http://例子.中国/坏/x", "xn--fsqu00a.xn--fiqs8s/坏"),
        ("http://only.com/x", "only.com"),
        ("http://fine.bad.com/", None),
        ("http://x.fine.bad.com/", None),
        ("http://good.com/~bad/but/fine/x", None),
        ("http://good.com/~bad/but", "good.com/~bad"),
        ("mailto:a@bad.com", None),
        ("", None),
        (None, None),
    ],
)
def test_listed(url: str | None, site: str | None, folder: Path) -> None:
    stage = built(folder, {"lists": "ut1", "except": "ok"})
    batch = units("http://bad.com", url, None)
    measures = stage.measure(batch)
    codes = stage.judge(measures)
    assert codes.tolist() == [1, int(site is not None), 0]
    if site is not None:
        [shown] = stage.evidence(units(url), codes[1:2], {})
        assert shown is not None and shown.match == site
        where = "urls" if "/" in site else "domains"
        if site != "only.com":
            assert shown.entry == f"ut1/bad/{where}: {site}"
    listed = measures["listed"]
    assert isinstance(listed, np.ndarray) and np.isnan(listed[2])


def test_a_list_of_what_to_keep(folder: Path) -> None:
    stage = built(folder, {"lists": "ok", "listed": [1, None]})
    batch = units("http://fine.bad.com/", "http://bad.com/", None)
    codes = stage.judge(stage.measure(batch))
    assert codes.tolist() == [0, 1, 0]
    [shown] = stage.evidence(batch.take(np.array([1])), codes[1:2], {})
    assert shown is not None and (shown.match, shown.entry) == ("bad.com", None)


def test_without_lists_it_takes_labels(folder: Path) -> None:
    stage = built(folder, {})
    assert stage.rules() == () and stage.takes() == ("host", "domain")
    measures = stage.measure(units("http://A.b.co.uk/x", None))
    host, domain = measures["host"], measures["domain"]
    assert isinstance(host, pa.LargeStringArray) and isinstance(domain, pa.LargeStringArray)
    assert host.to_pylist() == ["a.b.co.uk", None]
    assert domain.to_pylist() == ["b.co.uk", None]
    assert [resource.path for resource in built(folder, {"lists": "ut1"}).resources()] == [
        f"{folder}/ut1/bad/domains",
        f"{folder}/ut1/bad/urls",
    ]


def test_in_a_pipeline(folder: Path) -> None:
    (folder / "sites.jsonl").write_text('{"host": "c.com", "lines": ["Share"]}\n')
    table = {"blocklist": {"table": str(folder / "sites.jsonl"), "by": "host"}}
    stages = [
        {"domains": {"lists": str(folder / "ut1")}},
        {"remove": {"unit": "line", "failing": [table]}},
        {"length": {"chars": [5, None]}, "when": {"domain": ["b.org"]}},
        {"length": {"chars": [99, None]}, "when": {"url": {"matches": "/short$"}}, "name": "two"},
    ]
    rows = [
        {"id": "0", "url": "http://www.bad.com/", "text": "text of it"},
        {"id": "1", "url": "http://x.b.org/", "text": "abc"},
        {"id": "2", "url": "http://c.com/", "text": "abc\nShare\ndef"},
        {"id": "3", "url": "http://d.com/", "text": "abc\nShare\ndef"},
        {"id": "4", "url": None, "text": "abc"},
        {"id": "5", "url": "http://d.com/short", "text": "abc"},
    ]
    result = cp.Pipeline.from_dict({"stages": stages}).run(pa.Table.from_pylist(rows))
    texts = {row["id"]: row["text"] for row in result.kept.to_pylist()}
    assert texts == {"2": "abc\ndef", "3": "abc\nShare\ndef", "4": "abc"}
    dropped = {row["id"]: row for row in result.dropped.to_pylist()}
    assert {key: row["stage"] for key, row in dropped.items()} == {
        "0": "domains",
        "1": "length",
        "5": "two",
    }
    assert dropped["0"]["match"] == "bad.com"
    assert dropped["0"]["match_entry"].endswith("ut1/bad/domains: bad.com")
    hosts = {row["id"]: row["domains.host"] for row in result.measures.to_pylist()}
    assert hosts["0"] == "www.bad.com" and hosts["4"] is None


def test_no_address_at_all() -> None:
    result = cp.Pipeline.from_dict({"stages": ["domains"]}).run(["one", "two"])
    assert result.kept.num_rows == 2


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"lists": "none"}, ["lists: no file matches none"]),
        ({"lists": "empty"}, ["lists: no list in the folder empty"]),
        ({"lists": "void"}, ["lists: {0}/void: no site in it"]),
        (
            {"lists": "bad"},
            [
                'lists: {0}/bad:2: expected a domain or the beginning of an address, got "two',
                'lists: {0}/bad:4: expected a domain or the beginning of an address, got "a..b',
                "lists: {0}/bad:5: not UTF-8: byte 0xff at place 1 of the line",
            ],
        ),
        ({"except": "ok"}, ["except: nothing is listed without `lists`"]),
        ({"list": "ok"}, ['list: unknown parameter; did you mean "lists"?']),
    ],
)
def test_faults(parameters: Mapping[str, Any], expected: list[str], folder: Path) -> None:
    (folder / "empty").mkdir()
    (folder / "void").write_text("# nothing\n")
    (folder / "bad").write_bytes(b"a.com\ntwo words\n\na..b.com\n\xff\n")
    found = faults(Domains, parameters, str(folder))
    assert len(found) >= len(expected)
    reported = sorted(found)
    for message in expected:
        wanted = message.format(folder)
        assert any(text.startswith(wanted) for text in reported), (wanted, reported)


@pytest.mark.parametrize("piece", ["a/", "?", "a.", "/", "@", ":", "[", "%2e", "中"])
def test_time_is_linear(piece: str, folder: Path) -> None:
    stage = built(folder, {"lists": "ut1"})

    def urls(size: int) -> Units:
        starts = ("http://a.com/", "http://", "")
        return units(*(start + piece * (size // len(piece)) for start in starts))

    short, long = (partial(stage.measure, urls(size)) for size in (20_000, 160_000))
    assert ratio(long, short, 16, 0.05) < 16


@pytest.mark.parametrize("packed", ["domains.gz", "urls.zst"])
def test_packed_lists(packed: str, tmp_path: Path) -> None:
    (tmp_path / "ut1").mkdir()
    with pa.output_stream(str(tmp_path / "ut1" / packed)) as file:  # by its name
        file.write(b"bad.com\n")
    stage = built(tmp_path, {"lists": "ut1"})
    assert stage.judge(stage.measure(units("http://a.bad.com", "http://b.com"))).tolist() == [1, 0]
    path = tmp_path / "ut1" / packed
    path.write_bytes(path.read_bytes()[:-6])
    [message] = faults(Domains, {"lists": str(tmp_path / "ut1")})
    assert "cannot be read" in message


@pytest.mark.parametrize(
    ("site", "listed"),
    [
        ("*.bad.com", 1),
        ("||bad.com^", 1),
        ("||bad.com", 1),
        ("*bad.com", None),
        ("bad.*", None),
        ("|bad.com|", None),
    ],
)
def test_what_other_tools_write(site: str, listed: int | None, tmp_path: Path) -> None:
    (tmp_path / "list").write_text(f"{site}\n", "utf-8")
    found = faults(Domains, {"lists": str(tmp_path / "list")})
    if listed is None:
        [message] = found
        assert message.endswith("bad.com stands for itself and what is under it")
        return
    stage = built(tmp_path, {"lists": "list"})
    assert stage.judge(stage.measure(units("http://www.bad.com/x", "http://x.com"))).tolist() == [
        listed,
        0,
    ]
