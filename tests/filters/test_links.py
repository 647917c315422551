"""``links``: URLs and e-mail addresses at their bounds, in several scripts."""

from __future__ import annotations

from cleanpipe.filters.links import Links

from .table import faults, made, table

test_links = table(
    Links,
    [
        ("http://a www.b", {"urls": [None, 2]}, None),
        ("http://a www.b https://c", {"urls": [None, 2]}, "urls"),
        ("http://a www.b", {"urls": {"below": 2}}, "urls"),
        ("a@b.co", {"emails": [None, 1]}, None),
        ("a@b.co c@d.ef", {"emails": [None, 1]}, "emails"),
        ("a@b.co http://a", {"count": [None, 2]}, None),
        ("a@b.co http://a www.b", {"count": [None, 2]}, "count"),
        ("www.a xxxx", {"share": [None, 0.5]}, None),
        ("www.a xxx", {"share": [None, 0.5]}, "share"),
        ("www.a xxxx", {"share": {"below": 0.5}}, "share"),
        ("www.a x y", {"token_share": [None, 0.5]}, None),
        ("www.a x", {"token_share": [None, 0.5]}, "token_share"),
        ("详见www.a，很好", {"token_share": [None, 2 / 6]}, None),
        ("见www.a，很好", {"token_share": [None, 2 / 6]}, "token_share"),
        ("请写信到a@b.cn，谢谢。", {"emails": [None, 0]}, "emails"),
        ("网址：http://a.cn/好。", {"urls": [None, 0]}, "urls"),
        ("我们去公园。", {"count": [None, 0]}, None),
        ("<a href='http://a.b'>", {"urls": [None, 0]}, None),
        ("", {"share": [None, 0], "token_share": [None, 0], "count": [None, 0]}, None),
        ("", {"urls": [1, None]}, "urls"),
        ("word", {"count": [None, 0]}, None),
        ("http://a.b", {"share": [None, 1]}, None),
        ("http://a.b", {"share": {"below": 1}}, "share"),
        ("a" * 1000 + "@b", {"emails": [None, 0]}, None),
        ("🎉🎉🎉", {"token_share": [None, 0]}, None),
        ("🎉www.a🎉", {"urls": [None, 0]}, "urls"),
        ("שלום www.a.il עולם", {"urls": [None, 0]}, "urls"),
        ("مرحبا بالعالم", {"count": [None, 0]}, None),
        ("www.a\r\nwww.b\r\n", {"urls": [2, 2]}, None),
        ("www.a" + "." * (1 << 20), {"urls": [1, 1]}, None),
        ("a@b.co http://a", {"count": [None, 1], "urls": [None, 0]}, "urls"),
    ],
)


def test_only_what_is_bounded_is_taken() -> None:
    assert made(Links, {"share": [None, 0.3], "emails": [None, 3]}).takes() == (
        "email_addresses",
        "link_share",
    )


def test_without_bounds_it_says_so() -> None:
    assert faults(Links, {}) == [
        ": expected bounds on at least one of urls, emails, count, share, token_share"
    ]
