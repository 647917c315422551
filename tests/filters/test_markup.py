"""``markup``: tags, entities, braces and left-over lines at their bounds, in several scripts."""

from __future__ import annotations

import pytest

from cleanpipe import Pipeline
from cleanpipe.filters.markup import Markup

from .table import faults, made, table

NO_TAGS = {"tags": [None, 0]}
NO_RESIDUE = {"residue": [None, 0]}

test_markup = table(
    Markup,
    [
        ("a <b>c</b>", {"tags": [None, 2]}, None),
        ("a <b>c</b><br>", {"tags": [None, 2]}, "tags"),
        ("a <b>c</b>", {"tags": {"below": 2}}, "tags"),
        ("a < b and c > d", NO_TAGS, None),
        ("&amp; &lt;", {"entities": [None, 2]}, None),
        ("&amp; &lt; &#20013;", {"entities": [None, 2]}, "entities"),
        ("{{x}}", {"braces": [None, 4]}, None),
        ("{{x}} }", {"braces": [None, 4]}, "braces"),
        ("var a = 1;\nWords.", {"residue": [None, 1]}, None),
        ("var a = 1;\n});\nWords.", {"residue": [None, 1]}, "residue"),
        ("var a = 1;\nWords.", {"residue_share": [None, 0.5]}, None),
        ("var a = 1;\nWords.", {"residue_share": {"below": 0.5}}, "residue_share"),
        ("var a = 1;\nWords.\nMore.", {"residue_share": {"below": 0.5}}, None),
        ("<b>xxxxxxx", {"share": [None, 0.3]}, None),
        ("<b>xxxxxx", {"share": [None, 0.3]}, "share"),
        ("<b>x y z", {"token_share": [None, 0.25]}, None),
        ("<b>x y", {"token_share": [None, 0.25]}, "token_share"),
        ("天气很好<b>", {"token_share": [None, 0.2]}, None),
        ("天气好<b>", {"token_share": [None, 0.2]}, "token_share"),
        ("<p>天气很好</p>", NO_TAGS, "tags"),
        ("他说“a<b”，又说《书》。", NO_TAGS, None),
        ("天气&nbsp;很好", {"entities": [None, 0]}, "entities"),
        ("函数 function 很有用；", NO_RESIDUE, None),
        ("海上生明月，天涯共此时。\nvar 月 = 1;", NO_RESIDUE, None),
        ("天涯共此时。\nfont-family: 宋体, Arial;", NO_RESIDUE, "residue"),
        ("", NO_TAGS, None),
        ("", {"residue_share": [None, 0]}, None),
        ("", {"share": [0.1, None]}, "share"),
        ("word", NO_TAGS, None),
        ("word", NO_RESIDUE, None),
        ("a" * 1000, {"token_share": [None, 0]}, None),
        ("🎉🎉 <3", NO_TAGS, None),
        ("🎉🎉", {"token_share": [None, 0], "residue_share": [None, 0]}, None),
        ("<p dir='rtl'>שלום עולם</p>", NO_TAGS, "tags"),
        ("مرحبا؛", NO_RESIDUE, None),
        ("Words.\r\n});\r\n", {"residue": [1, 1]}, None),
        ("<a\r\nhref='b'>", NO_TAGS, "tags"),
        ("function (a, " * 80_000 + ";", {"residue": [None, 0]}, None),
        ("<b " * 350_000 + "好" * 9, {"tags": [None, 0]}, None),
        ("<b>});", {"tags": [None, 0], "residue": [None, 0]}, "tags"),
    ],
)


def test_only_what_is_bounded_is_taken() -> None:
    assert made(Markup, {"share": [None, 0.1], "tags": [None, 3]}).takes() == (
        "html_tags",
        "markup_share",
    )


def test_without_bounds_it_says_so() -> None:
    assert faults(Markup, {}) == [
        ": expected bounds on at least one of tags, entities, braces, residue, residue_share, "
        "share, token_share"
    ]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            "A page.\nvar a = [];\n  });\nSee http://a.b/c or www.d.ef\n<b>Cats\nThey purr.",
            "A page.\nThey purr.",
        ),
        (
            "天气很好。\r\n<p>广告\r\n見 http://a.cn/bcd\r\n我们去公园。",
            "天气很好。\r\n我们去公园。",
        ),
        ("Read http://a.b/ first, it says what this is for.", None),
    ],
)
def test_lines_of_a_page(text: str, left: str | None) -> None:
    failing = [{"links": {"share": [None, 0.3]}}, {"markup": {**NO_TAGS, **NO_RESIDUE}}]
    pipeline = Pipeline.from_dict({"stages": [{"remove": {"unit": "line", "failing": failing}}]})
    assert pipeline.run([text]).kept["text"].to_pylist() == [text if left is None else left]
