"""The counts of markup and links, against docs/measures.md in slow Python."""

from __future__ import annotations

import re
import time

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cleanpipe import _native

FIELDS = (
    "html_tags",
    "html_entities",
    "curly_brackets",
    "urls",
    "email_addresses",
    "markup_characters",
    "link_characters",
)
MARKUP = {
    "html_tags": re.compile(r"<(?:/?[A-Za-z]|!--|![A-Za-z])[^<>]*>"),
    "html_entities": re.compile(
        r"&(?:[A-Za-z][A-Za-z0-9]{1,31}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});"
    ),
}
URL = re.compile(
    r"(?<![A-Za-z0-9])(https?://|ftp://|www\.)[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+",
    re.IGNORECASE | re.ASCII,
)
LOCAL = re.compile(r"[A-Za-z0-9._%+-]{1,64}\Z")
LABELS = re.compile(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*")


def counts(texts: list[bytes]) -> list[dict[str, int]]:
    array = pa.array(texts, pa.large_binary()).view(pa.large_string())
    rows = _native._markup(array).reshape(-1, len(FIELDS)).tolist()  # type: ignore[attr-defined]
    return [dict(zip(FIELDS, row, strict=True)) for row in rows]


def url_length(text: str, at: int) -> int:
    match = URL.match(text, at)
    if not match:
        return 0
    kept = len(match[0].rstrip(".,:;!?'"))
    return kept if kept > len(match[1]) else 0


def domain_length(text: str, at: int) -> int:
    match = LABELS.match(text, at)
    labels = match[0].split(".") if match else []
    for number in range(len(labels), 1, -1):
        domain = ".".join(labels[:number])
        if len(domain) <= 253 and re.fullmatch("[A-Za-z]{2,}", labels[number - 1]):
            return len(domain)
    return 0


def reference(data: bytes) -> dict[str, int]:
    text = data.decode(errors="replace")
    found = dict.fromkeys(FIELDS, 0)
    found["curly_brackets"] = text.count("{") + text.count("}")
    at = behind = 0
    while at < len(text):
        end = 0
        for name, pattern in MARKUP.items():
            if match := pattern.match(text, at):
                end = match.end()
                found[name] += 1
                found["markup_characters"] += end - at
        if length := url_length(text, at):
            end = at + length
            found["urls"] += 1
            found["link_characters"] += length
        if text[at] == "@":
            local = LOCAL.search(text[max(behind, at - 64) : at])
            length = domain_length(text, at + 1)
            if local and length:
                end = at + 1 + length
                found["email_addresses"] += 1
                found["link_characters"] += len(local[0]) + 1 + length
        at = end or at + 1
        behind = end or behind
    return found


LONG = "a" * 60 + "."


@pytest.mark.parametrize(
    ("name", "text", "number", "characters"),
    [
        ("html_tags", "<p>a</p><br/>", 3, 12),
        ("html_tags", "< p> <1> <> </> <=> a<b", 0, 0),
        ("html_tags", "<a\nhref='好'>", 1, 12),
        ("html_tags", "<!-- a --><!DOCTYPE html><!-->", 3, 30),
        ("html_tags", "<!> <!-> <!1> </!a> </!--> <?xml?>", 0, 0),
        ("html_tags", "<a<b>", 1, 3),
        ("html_tags", "<a <!-- b > c -->", 1, 8),
        ("html_tags", "<é> <a", 0, 0),
        ("html_tags", "<a@b.co> <http://a>", 2, 18),
        ("html_tags", '<a href="http://x.y/?a&amp;b" title="{a@b.co}">', 1, 47),
        ("html_entities", "&amp;&lt; &frac12; &Aacute;", 4, 5 + 4 + 8 + 8),
        ("html_entities", "&a; &1a; &a b; &amp &; &;", 0, 0),
        ("html_entities", f"&a{'b' * 31}; &a{'b' * 32};", 1, 34),
        ("html_entities", "&#1; &#1234567; &#12345678; &#;", 2, 4 + 10),
        ("html_entities", "&#xA; &#XaBcDeF; &#xabcdefa; &#x; &#xg;", 2, 5 + 10),
        ("curly_brackets", "{{a}} <p {b}> http://a/{", 7, None),
        ("urls", "http://a https://b.c/d FTP://e wWw.f", 4, 8 + 13 + 7 + 5),
        ("urls", "xhttp://a 1www.b éhttp://c _www.d", 2, 8 + 5),
        ("urls", "sftp://www.a httpx://b", 1, 5),
        ("urls", "www.a.,:;!?' (http://b/(c)). http://d/?", 3, 5 + 13 + 9),
        ("urls", "http:// www. http://. www..., http://é https:/a", 0, 0),
        ("urls", "http://www.a, www.b", 2, 12 + 5),
        ("urls", "http://www.", 1, 10),
        ("urls", "http://http://a", 1, 15),
        ("urls", "www.a<b>www.c&amp;{www.d}", 3, 5 + 9 + 5),
        ("urls", "wwww.a ww.w.a", 0, 0),
        ("urls", "http://我 http://a我www.b", 2, 8 + 5),
        ("email_addresses", "a@b.co, (c.d+e%f_g-h@i.j-k.lm).", 2, 6 + 20),
        ("email_addresses", "a@b a@b.c a@b.c1 @b.co a@.co a@b..co é@b.co", 0, 0),
        ("email_addresses", "a@b.co.1 a@b.co. a@b.co-", 2, 12),
        ("email_addresses", "a@b@c.de", 1, 6),
        ("email_addresses", "a@b.co@c.de", 1, 6),
        ("email_addresses", "&amp;a@b.co <p>a@b.co", 2, 12),
        ("email_addresses", "a" * 64 + "@b.co " + "a" * 65 + "@b.co", 2, 138),
        ("email_addresses", f"a@{LONG * 4}{'b' * 9} a@{LONG * 4}{'b' * 10}", 2, 255 + 245),
        ("email_addresses", "a@b.http://c.d", 1, 8),
        ("email_addresses", "a@www.b.co mailto:a@b.co", 2, 10 + 6),
        ("email_addresses", "www.a@b.co http://a@b.co", 0, None),
    ],
)
def test_examples(name: str, text: str, number: int, characters: int | None) -> None:
    [found] = counts([text.encode()])
    assert found == reference(text.encode())
    assert found[name] == number
    if characters is not None:
        total = "markup_characters" if name.startswith("html") else "link_characters"
        assert found[total] == characters


SIGNS = """< < > / ! - -- a B z0 1 & & # x X ; { } . . , : ? ' = % + _ ~ @ @ http https hTtP ftp
FTP :// :// www. WwW www co com é 好 ﬀ \u017f"""
PIECES = [
    *SIGNS.split(),
    " ",
    "\n",
    "a" * 30,
    "a" * 63,
    "1" * 6,
    "b." * 60,
    "<a",
    "http://",
    "a@b.co",
    "&amp;",
]
BYTES = [piece.encode() for piece in PIECES] + [b"\x80", b"\xc3", b"\xe5\xa5", b"\xf0", b"\xff"]


@example(b"http://\xe5a@b.co")
@given(st.lists(st.sampled_from(BYTES), max_size=40).map(b"".join))
def test_it_equals_slow_python(data: bytes) -> None:
    assert counts([data]) == [reference(data)]


PLACES = """<% <a% </% <!% <a>% &% &a%b; &#%; &#1%; &#x%; &ab% % %http://a %www.a http%//a http:/%a
www%a www.% www.%a www.a% www.a%b %a@b.co a%b@c.de a%@b.co a@%b.co a@b%.co a@b%c.de a@b.c% a@b.%de
a@b.cd% a@b.c%d %@a@b.co"""


@pytest.mark.parametrize("pattern", PLACES.split())
def test_every_byte_at_every_place(pattern: str) -> None:
    head, tail = pattern.encode().split(b"%")
    texts = [head + bytes([byte]) + tail + end for byte in range(256) for end in (b"", b" ")]
    found = counts(texts)
    assert [text for text, row in zip(texts, found, strict=True) if row != reference(text)] == []


HOSTILE = """<a <!-- < & &a &# { @ @@ a@ a@a@ a@b. a@a- a@a.a . .. www. www.. ,www.. http:// ://
http://. www.a, a a. é \ufffd <é : http:"""


@pytest.mark.parametrize("pattern", HOSTILE.split())
def test_time_grows_with_length_only(pattern: str) -> None:
    data = pattern.encode()
    text = data * ((1 << 22) // len(data))
    start = time.perf_counter()
    # Sentinels at the ends: a search that fails is the slow one.
    counts([text, b"<a" + text, b"a@" + text + b".co", b"www." + text + b"\n"])
    # What is quadratic takes hours; this takes a fraction of a second.
    assert time.perf_counter() - start < 30
    assert counts([data * 1000]) == [reference(data * 1000)]
