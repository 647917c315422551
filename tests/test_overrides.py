"""``--set``: the file's keys with stage names for places in lists."""

# ruff: noqa: E501 (rows of tables)
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from cleanpipe.document import Document
from cleanpipe.overrides import override
from cleanpipe.parse import parse_spec
from cleanpipe.spec import TOP_LEVEL

FILE = """\
sources:
  web: {paths: "*.jsonl"}
stages:
  - exact
  - length: {tokens: [50, 100]}
  - length: {lines: {above: 1, below: 9}}
    name: short
    when: {source: web}
  - gopher_quality: {}
    when: {language: en}
  - perplexity:
      per: language
      cases:
        en: {model: en.bin, bounds: [20, 1500]}
        zh:
      else: keep
  - remove:
      unit: line
      failing:
        - symbols: {symbol_share: [null, 0.5]}
        - length: {chars: [3, null]}
          name: tiny
shard_bytes: 64MiB
"""


def changed(*settings: str) -> Any:
    tree, faults = override(Document.parse(FILE, "f").tree, settings, TOP_LEVEL)
    assert not faults
    return tree


def found(tree: Any, path: Sequence[str | int]) -> Any:
    for part in path:
        tree = tree[part]
    return tree


@pytest.mark.parametrize(
    ("setting", "path", "value"),
    [
        ("length.tokens=[1, 2]", ("stages", 1, "length", "tokens"), (1, 2)),
        ("length.tokens.min=60", ("stages", 1, "length", "tokens"), (60, 100)),
        ("length.tokens.max=60", ("stages", 1, "length", "tokens"), (50, 60)),
        ("length.tokens.max=null", ("stages", 1, "length", "tokens"), (50, None)),
        ("length.tokens.min=0", ("stages", 1, "length", "tokens"), (0, 100)),
        ("length.chars.min=3", ("stages", 1, "length", "chars"), {"min": 3}),
        ("length.chars.above=3", ("stages", 1, "length", "chars"), {"above": 3}),
        ("short.lines.min=2", ("stages", 2, "length", "lines"), {"min": 2, "below": 9}),
        ("short.lines.max=8", ("stages", 2, "length", "lines"), {"above": 1, "max": 8}),
        ("short.lines.below=8", ("stages", 2, "length", "lines"), {"above": 1, "below": 8}),
        ("short.when.source=books", ("stages", 2, "when"), {"source": "books"}),
        ("short.when={url: x}", ("stages", 2, "when"), {"url": "x"}),
        ("length.when.source=[a, b]", ("stages", 1, "when"), {"source": ("a", "b")}),
        ("length.name=long", ("stages", 1, "name"), "long"),
        ("length=null", ("stages", 1, "length"), None),
        (
            "gopher_quality.stop_words=null",
            ("stages", 3, "gopher_quality"),
            {"stop_words": None},
        ),
        (
            "gopher_quality.stop_words.min=3",
            ("stages", 3, "gopher_quality", "stop_words", "min"),
            3,
        ),
        (
            "perplexity.cases.en.bounds.max=1700",
            ("stages", 4, "perplexity", "cases", "en", "bounds"),
            (20, 1700),
        ),
        (
            "perplexity.cases.zh.model=zh.bin",
            ("stages", 4, "perplexity", "cases", "zh"),
            {"model": "zh.bin"},
        ),
        ("perplexity.else=drop", ("stages", 4, "perplexity", "else"), "drop"),
        (
            "remove.failing.symbols.symbol_share.max=0.4",
            ("stages", 5, "remove", "failing", 0, "symbols", "symbol_share"),
            (None, 0.4),
        ),
        (
            "remove.failing.tiny.chars.min=4",
            ("stages", 5, "remove", "failing", 1, "length", "chars"),
            (4, None),
        ),
        ("exact.new=1", ("stages", 0), {"exact": {"new": 1}}),
        ("sources.web.text=content", ("sources", "web", "text"), "content"),
        ("sources.web.paths=[a, b]", ("sources", "web", "paths"), ("a", "b")),
        ("sources.more.paths=a", ("sources", "more"), {"paths": "a"}),
        ("output.path=out", ("output",), {"path": "out"}),
        ("run.batch_bytes=1MiB", ("run", "batch_bytes"), "1MiB"),
        ("shard_bytes=1MiB", ("shard_bytes",), "1MiB"),
        ("guards=off", ("guards",), "off"),
        # Values are the same YAML as in the file.
        ("length.x=1e-5", ("stages", 1, "length", "x"), 1e-5),
        ("length.x=no", ("stages", 1, "length", "x"), "no"),
        ("length.x=2024-01-31", ("stages", 1, "length", "x"), "2024-01-31"),
        ("length.x=", ("stages", 1, "length", "x"), None),
        ("length.x=a=b", ("stages", 1, "length", "x"), "a=b"),
        (" length.x = 3", ("stages", 1, "length", "x"), 3),
    ],
)
def test_a_value_is_put(setting: str, path: Sequence[str | int], value: Any) -> None:
    assert found(changed(setting), path) == value


def test_all_else_stays() -> None:
    before = Document.parse(FILE, "f").tree
    after, _ = override(before, ["length.tokens.min=60"], TOP_LEVEL)
    assert before == Document.parse(FILE, "f").tree
    assert after == Document.parse(FILE.replace("[50, 100]", "[60, 100]"), "f").tree
    assert list(after["stages"][4]["perplexity"]) == ["per", "cases", "else"]


def test_in_the_order_given() -> None:
    tree = changed("length.name=long", "long.tokens.min=1", "long.tokens.min=2")
    assert tree["stages"][1] == {"length": {"tokens": (2, 100)}, "name": "long"}


@pytest.mark.parametrize(
    ("setting", "path", "message"),
    [
        ("length.tokens", "length.tokens", "expected path=value"),
        ("=3", "=3", "expected path=value"),
        ("length..tokens=3", "length..tokens=3", "expected path=value"),
        ("lenght.tokens=3", "lenght.tokens", 'no stage is called "lenght"; did you mean "length"?'),
        ("length.tokens=[1", "length.tokens", 'expected a YAML value, got "[1"'),
        ("length.tokens={a: 1, a: 2}", "length.tokens", "expected a YAML value"),
        ("length.tokens.min.x=3", "length.tokens.min.x", 'nothing is called "min"'),
        ("shard_bytes.x=3", "shard_bytes.x", 'nothing is called "x" below 64MiB'),
        ("remove.failing.links.x=3", "remove.failing.links.x", 'no stage is called "links"'),
        ("odd.x=1", "odd.x", '"odd" is the name of no stage'),
    ],
)
def test_faults(setting: str, path: str, message: str) -> None:
    tree = Document.parse(FILE.replace("stages:\n", "stages:\n  - {name: odd}\n"), "f").tree
    after, ((place, text),) = override(tree, [setting], TOP_LEVEL)
    assert place == path
    assert message in text
    assert after == tree


@pytest.mark.parametrize("stages", [None, 3, "length", {"length": {}}])
def test_no_list_of_stages(stages: Any) -> None:
    tree = {} if stages is None else {"stages": stages}
    _, faults = override(tree, ["gone.tokens=3"], TOP_LEVEL)
    assert [path for path, _ in faults] in ([], ["gone.tokens"])


def test_faults_come_with_those_of_the_file() -> None:
    document = Document.parse("stages:\n  - length: {tokens: [2, 1]}\n", "p.yaml")
    spec = parse_spec(document, ".", ["lenght.tokens=3", "length.chars.min=five", "nope"])
    assert [str(fault).split(";")[0] for fault in sorted(spec.faults)] == [
        '--set: lenght.tokens: no stage is called "lenght"',
        "--set: nope: expected path=value",
        'p.yaml:2:5: stages[0].length.chars: expected a finite number or null as a bound, got "five"',
        "p.yaml:2:14: stages[0].length.tokens: expected low <= high, got [2, 1]: nothing passes",
    ]


def test_what_cases_share_is_changed_for_one_of_them() -> None:
    tree = {"stages": ({"length": {"per": "language", "tokens": (5, 90), "cases": {"en": None}}},)}
    changed_tree, faults = override(tree, ["length.cases.en.tokens.max=50"], TOP_LEVEL)
    assert not faults
    length = changed_tree["stages"][0]["length"]
    assert length["cases"] == {"en": {"tokens": (5, 50)}}
    assert length["tokens"] == (5, 90)
