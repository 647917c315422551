"""Hosts and registered domains of addresses."""

from __future__ import annotations

import pytest

from cleanpipe.filters.addresses import domain_of, host_of, split


@pytest.mark.parametrize(
    ("url", "host", "domain"),
    [
        ("http://www.Example.COM/path?q#f", "www.example.com", "example.com"),
        ("https://user:p@ss@a.b.co.uk:8080/", "a.b.co.uk", "b.co.uk"),
        ("//cdn.example.com/x", "cdn.example.com", "example.com"),
        ("example.com/x", "example.com", "example.com"),
        ("example.com:80", "example.com", "example.com"),
        ("http://example.com.", "example.com", "example.com"),
        ("http://example.com?x", "example.com", "example.com"),
        ("http://example.com\\@evil.com", "example.com", "example.com"),
        ("  http://example.com/ ", "example.com", "example.com"),
        ("http://bücher.example/", "xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("http://BÜCHER.example/", "xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("http://xn--bcher-kva.example/", "xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("http://例子。中国/路径", "xn--fsqu00a.xn--fiqs8s", "xn--fsqu00a.xn--fiqs8s"),
        ("http://ｅｘａｍｐｌｅ．ｃｏｍ/", "example.com", "example.com"),
        ("http://straße.de/", "xn--strae-oqa.de", "xn--strae-oqa.de"),
        ("http://me.github.io/x", "me.github.io", "me.github.io"),
        ("http://co.uk/", "co.uk", None),
        ("http://localhost:8000/", "localhost", None),
        ("http://10.0.0.1:80/x", "10.0.0.1", None),
        ("http://[2001:DB8::1]:80/x", "[2001:db8::1]", None),
        ("ftp://a.b.kawasaki.jp", "a.b.kawasaki.jp", "a.b.kawasaki.jp"),
        ("http://x.unknown-tld", "x.unknown-tld", "x.unknown-tld"),
        ("http://a_b.example.com", "a_b.example.com", "example.com"),
        ("mailto:a@b.com", None, None),
        ("javascript:void(0)", None, None),
        ("/only/a/path", None, None),
        ("word", None, None),
        ("two words.com", None, None),
        ("http://", None, None),
        ("http://.com", None, None),
        ("http://a..b.com", None, None),
        ("http://" + "a." * 200 + "com", None, None),
        ("", None, None),
        (None, None, None),
    ],
)
def test_host_and_domain(url: str | None, host: str | None, domain: str | None) -> None:
    assert (host_of(url), domain_of(host_of(url))) == (host, domain)


def test_what_follows() -> None:
    assert split("http://u@a.com:80/x/?y#z") == ("a.com", "/x/?y#z")
    assert split("a.com") == ("a.com", "")
