"""Measures of markup and links: every byte at every place of what they look for."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from .test_measures import differences

NAMES = (
    "html_tags",
    "html_entities",
    "curly_brackets",
    "urls",
    "email_addresses",
    "markup_share",
    "link_share",
)

SIGNS = """< < > / ! - -- a B z0 1 & & # x X ; { } . . , : ? ' = % + _ ~ @ @ http https hTtP ftp
FTP :// :// www. WwW www co com é 好 ﬀ \u017f <a http:// a@b.co &amp;"""
PIECES = [
    *(sign.encode() for sign in SIGNS.split()),
    *(b" ", b"\n", b"a" * 30, b"a" * 63, b"1" * 6, b"b." * 60),
    *(b"\x80", b"\xc3", b"\xe5\xa5", b"\xf0", b"\xff"),
]


@example(b"http://\xe5a@b.co")
@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join))
def test_they_equal_the_reference(data: bytes) -> None:
    assert differences([data], NAMES) == []


PLACES = """<% <a% </% <!% <a>% &% &a%b; &#%; &#1%; &#x%; &ab% % %http://a %www.a http%//a http:/%a
www%a www.% www.%a www.a% www.a%b %a@b.co a%b@c.de a%@b.co a@%b.co a@b%.co a@b.co%c a@b%c.de a@b.c%
a@b.%de a@b.cd% a@b.c%d %@a@b.co"""


@pytest.mark.parametrize("pattern", PLACES.split())
def test_every_byte_at_every_place(pattern: str) -> None:
    head, tail = pattern.encode().split(b"%")
    texts = [head + bytes([byte]) + tail + end for byte in range(256) for end in (b"", b" ")]
    assert differences(texts, NAMES) == []
