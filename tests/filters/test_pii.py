"""``pii``: what is taken for an address, and what is put in its place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cleanpipe import _native
from cleanpipe.edits import apply_edits
from cleanpipe.filters.pii import Pii
from cleanpipe.stage import Edits, Measures
from cleanpipe.units import Units
from tests.filters.table import faults, made
from tests.times import ratio

E, I, V = "email@example.com", "22.214.171.124", "2001:db8::1"  # noqa: E741


def rewritten(stage: Pii, texts: Sequence[str]) -> tuple[list[str], Edits, Measures]:
    column = pa.array(texts, pa.large_string())
    edits, measures = stage.rewrite(Units(column))
    new = list(texts)
    for place, text in zip(*apply_edits(column, edits), strict=True):
        new[place] = text
    return new, edits, measures


EMAILS = [
    ("Write to a.b+c@mail.example.co.uk, please.", f"Write to {E}, please."),
    ("<a href='mailto:me@site.org'>me@site.org</a>", f"<a href='mailto:{E}'>{E}</a>"),
    ("https://site.org/?to=me@site.org&x", f"https://site.org/?to={E}&x"),
    ("邮箱abc@qq.com，或ABC@163.com联系", f"邮箱{E}，或{E}联系"),
    ("联系：张三<zhang.san@公司.cn>", "联系：张三<zhang.san@公司.cn>"),
    ("...me@x.com. -me@x.com, me@x.com-", f"...{E}. -{E}, me@x.com-"),
    ("a@b@c.de", f"a@{E}"),
    ("a@b.co\r\nc@d.eu\r\n", f"{E}\r\n{E}\r\n"),
    ("שלום a@b.co עולם", f"שלום {E} עולם"),
    ("👩a@b.co🏳️‍🌈", f"👩{E}🏳️‍🌈"),
    ("@user a@ @b.co a@b a@b.c a@1.2 pkg@1.2.3 @a.co", None),
    ("https://medium.com/@user x @ y.com", None),
    ("me@example.com you@mail.EXAMPLE.org email@example.com", None),
    ("me@notexample.com", E),
    ("a＠b.co", None),
]
IPS = [
    ("from 81.2.69.142 and 8.8.4.4:53, 8.8.8.0/24.", f"from {I} and {I}:53, {I}/24."),
    ("服务器IP为114.114.114.114，端口80", f"服务器IP为{I}，端口80"),
    ("地址：8.8.8.8。", f"地址：{I}。"),
    ("http://81.2.69.142/x", f"http://{I}/x"),
    ("8.8.8.8-8.8.4.4", f"{I}-{I}"),
    ("[8.8.8.8]", f"[{I}]"),
    ("8.8.8.8\r\n8.8.4.4\r\n", f"{I}\r\n{I}\r\n"),
    ("8.8.8.8", I),
    ("8.8.8.8，是它", f"{I}，是它"),
    ("81.2.69.142 logged in", f"{I} logged in"),
    ("שלום 8.8.8.8 עולם", f"שלום {I} עולם"),
    # private, loopback, link-local, documentation, masks, multicast, shared
    ("10.0.0.1 172.16.0.1 192.168.1.1 127.0.0.1 169.254.1.1 192.0.2.1 255.255.255.0 224.0.0.1 "
     "100.64.0.1 0.0.0.0 240.0.0.1", None),
    ("172.15.255.255 172.32.0.0 9.255.255.255 11.0.0.0", f"{I} {I} {I} {I}"),
    ("256.1.1.1 1.1.1.256 01.2.3.4 1.2.3 8.8.8.08", None),
    ("version 1.2.3.4, ver. 1.2.3.4 v1.2.3.4 Version: 1.2.3.4 (release 1.2.3.4)", None),
    ("Chrome/1.2.3.4 openssl-1.1.1.1 1.2.3.4-beta lib.1.2.3.4 1.2.3.4.jar a1.2.3.4 _1.2.3.4", None),
    ("版本1.2.3.4 版本号：1.2.3.4 （第1.2.3.4 第1.2.3.4节 见1.2.3.4条", None),
    ("Section 1.2.3.4 § 1.2.3.4", None),
    ("1.2.3.4.5 1.2.3.4.5.6", None),
    ("1.2.3.4. Results\n1.2.3.4\u00a0Results\n12.1.1.1. RAID Levels\n9.2.1.1.\u00a0RAID", None),
    ("See section\u00a09.2.1.1 here, version\u00a012.34.56.78, §\u202f9.2.1.1", None),
    ("# 12.1.1.1 RAID\n11.2.3.4: Results\n1.2.3.142. Results\n\u300012.1.1.1\u3000概述", None),
    ("8.8.8.8 dns.google\n8.8.4.4\tdns.google", f"{I} dns.google\n{I}\tdns.google"),
    ("81.2.69.142: refused\n81.2.69.14 - - [x]", f"{I}: refused\n{I} - - [x]"),
    ("Раздел\u00a06.3.6.2, «Выбор", None),
    ("IP\u00a081.2.69.142", f"IP\u00a0{I}"),
    ("6.3.6.2절", None),
    ("2024:: hello. In 2020::, std 2abc:: 2024::", None),
    ("2a00:1450::", V),
    ("9.9.9.9\nResults", f"{I}\nResults"),
    ("1.2.3.4 Results\n  1.2.3.4 系统架构\n1.2.3.4系统", None),
    ("intersection 8.8.8.8", f"intersection {I}"),
    ("IPv4: 8.8.8.8", f"IPv4: {I}"),
    ("22.214.171.124", None),
    ("8.8.8.8@b.co", E),
    ("8.8.8.8%a@b.co 8.8.8.8", f"{E} {I}"),
    ("2001:4860:4860::8888.", f"{V}."),
    ("[2001:4860:4860:0:0:0:0:8888]:80 2001:4860:4860::/48", f"[{V}]:80 {V}/48"),
    ("地址2a00:1450:4001:81b::200e，", f"地址{V}，"),
    ("2001:4860:4860::8888: it", f"{V}: it"),
    ("2001:db8::2 fe80::1 ::1 a::b std::vector dead::beef 2001:10:12 2021:01:02:03", None),
    ("12:30:45 2001:4860:4860::8888:1:2:3:4:5:6 x2001:4860::1 2001:4860::1x", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), [("", None), ("word", None), *EMAILS, *IPS])
def test_table(text: str, expected: str | None) -> None:
    # Among others, so that a mix-up of documents shows.
    texts = ["a@b.co", text, "8.8.8.8"]
    new, edits, measures = rewritten(Pii(), texts)
    assert new == [E, text if expected is None else expected, I]
    counts = [np.bincount(edits.unit[np.isin(edits.rule, rules)], minlength=3)
              for rules in ([1], [2, 3])]  # fmt: skip
    assert [measures["emails"].tolist(), measures["ips"].tolist()] == [c.tolist() for c in counts]
    for name, rule, value, unit in zip(
        edits.replacement or (), edits.rule, edits.value, edits.unit, strict=True
    ):
        assert name == (E, I, V)[rule - 1]
        assert value == measures["emails" if rule == 1 else "ips"][unit]
    assert rewritten(Pii(), new)[0] == new


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"email": None}, f"a@b.co {I} {V}"),
        ({"ip": None}, f"{E} 8.8.8.8 {V}"),
        ({"ipv6": None, "email": "", "ip": "<IP>"}, " <IP> 2a00:1450::1"),
        ({"keep": ["A@b.co", "8.8.8.0/24"]}, f"a@b.co 8.8.8.8 {V}"),
        ({"keep": ["B.co", "2a00::/16"]}, f"a@b.co {I} 2a00:1450::1"),
        ({"keep": []}, f"{E} {I} {V}"),
    ],
)
def test_parameters(parameters: Mapping[str, Any], expected: str) -> None:
    stage = made(Pii, parameters)
    assert rewritten(stage, ["a@b.co 8.8.8.8 2a00:1450::1"])[0] == [expected]


def test_faults() -> None:
    assert faults(Pii, {"email": None, "ip": None, "ipv6": None}) == [
        "email: nothing is replaced: give email, ip or ipv6 a text"
    ]
    assert faults(Pii, {"keep": ["a b", "1.2.3"]}) == [
        f'keep: expected an e-mail address, a domain, an IP address or network, got "{entry}"'
        for entry in ("a b", "1.2.3")
    ]


LOCAL = re.compile(rb"[A-Za-z0-9._%+-]{0,64}$")
LABELS = re.compile(rb"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*")


def spans(text: bytes) -> list[tuple[int, int]]:
    """Addresses, from the definition."""
    found: list[tuple[int, int]] = []
    last = 0
    for at in (match.start() for match in re.finditer(b"@", text)):
        if at < last:
            continue
        local = LOCAL.search(text[last:at])
        assert local
        name = local[0].lstrip(b".-")
        labels = LABELS.match(text, at + 1)
        parts = labels[0].split(b".") if labels else []
        for count in range(len(parts), 1, -1):
            domain = b".".join(parts[:count])
            if name and len(domain) <= 253 and re.fullmatch(rb"[A-Za-z]{2,}", parts[count - 1]):
                last = at + 1 + len(domain)
                found.append((at - len(name), last))
                break
    return found


PIECES = ["a", "b.", ".co", "@", "@", "-", ".", "_", "好", "1", "x" * 63, "b." * 60, "<", "://"]


@settings(max_examples=300)
@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=20).map("".join), max_size=4))
def test_spans_equal_the_reference(texts: list[str]) -> None:
    offsets, starts, ends = _native.email_spans(pa.array(texts, pa.large_string()))
    assert offsets[-1] == len(starts) == len(ends)
    for text, first, last in zip(texts, offsets, offsets[1:], strict=False):
        got = list(zip(starts[first:last].tolist(), ends[first:last].tolist(), strict=True))
        assert got == spans(text.encode())


@pytest.mark.parametrize(
    "unit", ["1.", "8.8.8.8 ", "@", "a@b.co", "2001:", "2001:4860::1 ", "1.1.1.1:", "\n9.9.9.9 a",
             "好8.8.8.8"]
)  # fmt: skip
def test_a_long_line(unit: str) -> None:
    short, long = (
        partial(Pii().rewrite, Units(pa.array([unit * (size // len(unit))], pa.large_string())))
        for size in (2**16, 2**18)
    )
    assert ratio(long, short, 12, 0.05) < 12
