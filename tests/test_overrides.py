"""``--set``: the file's keys with stage names for places in lists."""

# ruff: noqa: E501 (rows of tables)
from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cleanpipe.bounds import Bounds
from cleanpipe.document import Document
from cleanpipe.errors import ConfigError, Fault
from cleanpipe.filters import packs
from cleanpipe.overrides import override
from cleanpipe.parameters import LocalPath
from cleanpipe.parse import parse_spec
from cleanpipe.plan import make_plan
from cleanpipe.run import find_inputs
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
    tree, faults, _ = override(Document.parse(FILE, "f").tree, settings, TOP_LEVEL)
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
        (
            "remove.tiny.chars.min=4",
            ("stages", 5, "remove", "failing", 1, "length", "chars"),
            (4, None),
        ),
        # What the default bounds at the other end stays.
        (
            "gopher_quality.mean_word_length.max=9",
            ("stages", 3, "gopher_quality", "mean_word_length"),
            {"min": 3, "max": 9},
        ),
        (
            "gopher_quality.whitespace_words.above=60",
            ("stages", 3, "gopher_quality", "whitespace_words"),
            {"max": 100000, "above": 60},
        ),
        (
            "gopher_quality={mean_word_length: {max: 9}}",
            ("stages", 3, "gopher_quality"),
            {"mean_word_length": {"max": 9}},
        ),
        ("length.tokens.above=60", ("stages", 1, "length", "tokens"), {"max": 100, "above": 60}),
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
    after, _, _ = override(before, ["length.tokens.min=60"], TOP_LEVEL)
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
    after, ((place, text),), _ = override(tree, [setting], TOP_LEVEL)
    assert place == path
    assert message in text
    assert after == tree


@pytest.mark.parametrize("stages", [None, 3, "length", {"length": {}}])
def test_no_list_of_stages(stages: Any) -> None:
    tree = {} if stages is None else {"stages": stages}
    _, faults, _ = override(tree, ["gone.tokens=3"], TOP_LEVEL)
    assert [path for path, _ in faults] in ([], ["gone.tokens"])


def test_faults_come_with_those_of_the_file() -> None:
    document = Document.parse("stages:\n  - length: {tokens: [2, 1]}\n", "p.yaml")
    spec = parse_spec(document, ".", ["lenght.tokens=3", "length.chars.min=five", "nope"])
    assert [str(fault).split(";")[0] for fault in sorted(spec.faults)] == [
        '--set: lenght.tokens: no stage is called "lenght"',
        '--set: length.chars.min: expected a finite number or null as a bound, got "five"',
        "--set: nope: expected path=value",
        "p.yaml:2:14: stages[0].length.tokens: expected low <= high, got [2, 1]: nothing passes",
    ]


def test_what_cases_share_is_changed_for_one_of_them() -> None:
    tree = {"stages": ({"length": {"per": "language", "tokens": (5, 90), "cases": {"en": None}}},)}
    changed_tree, faults, _ = override(tree, ["length.cases.en.tokens.max=50"], TOP_LEVEL)
    assert not faults
    length = changed_tree["stages"][0]["length"]
    assert length["cases"] == {"en": {"tokens": (5, 50)}}
    assert length["tokens"] == (5, 90)


PACKS = """\
stages:
  - language: {}
  - language_pack: {pack: %s}
  - language_pack: {per: language, cases: {en: {pack: en}}, else: keep}
    name: packs
  - gopher_quality: {per: language, cases: {en: {mean_word_length: null}}, else: keep}
  - fineweb: {variant: datatrove}
  - remove: {unit: line, failing: [language_pack: {pack: en, unit: line}]}
  - domains: {}
"""


def pack_limit(member: str, unit: str = "document") -> Bounds:
    return packs.read(LocalPath("en"))[unit].bounds[member]


@pytest.mark.parametrize(
    ("setting", "name", "bounds"),
    [
        ("language_pack.change.letter_share.max=0.99", "language_pack.letter_share",
         Bounds(pack_limit("letter_share").low, 0.99)),
        ("packs.cases.en.change.letter_share.max=0.99", "packs.letter_share",
         Bounds(pack_limit("letter_share").low, 0.99)),
        ("gopher_quality.cases.en.whitespace_words.min=60", "gopher_quality.whitespace_words",
         Bounds(60, 100_000)),
        ("fineweb.short_line_share.min=0.1", "fineweb.short_line_share", Bounds(0.1, 0.67)),
        ("domains.listed.min=0", "domains", Bounds(0, 0)),
    ],
)  # fmt: skip
def test_the_other_end_of_a_default_stays(
    setting: str, name: str, bounds: Bounds, tmp_path: Path
) -> None:
    spec = parse_spec(Document.parse(PACKS % "en", "p.yaml"), ".", [setting])
    assert not spec.faults and not spec.warnings
    (stage,) = next(step for step in spec.steps if step.name == name).stages
    assert getattr(stage, "listed" if name == "domains" else "bounds") == bounds


def test_a_pack_that_is_a_file_beside_the_pipeline(tmp_path: Path) -> None:
    for suffix in (".yaml", ".pairs.txt"):
        text = Path(f"filters/packs/en{suffix}").read_bytes()
        (tmp_path / f"mine{suffix}").write_bytes(text)
    document = Document.parse(PACKS % "mine.yaml", "p.yaml")
    spec = parse_spec(document, str(tmp_path), ["language_pack.change.letter_share.max=0.99"])
    assert spec.tree["stages"][1]["language_pack"]["change"]["letter_share"]["min"] == (
        pack_limit("letter_share").low
    )


@pytest.mark.parametrize(
    ("stage", "sentence"),
    [
        ("gopher_quality: {mean_word_length: {max: 9}}",
         "stages[0].gopher_quality.mean_word_length has no lower end now: write both ends; "
         "the default is [3, 10]"),
        ("gopher_quality: {mean_word_length: {above: 3}}",
         "stages[0].gopher_quality.mean_word_length has no upper end now: write both ends; "
         "the default is [3, 10]"),
        ("gopher_quality: {mean_word_length: {max: null}}", "stages[0].gopher_quality.mean"),
        ("gopher_quality: {mean_word_length: [null, 9]}", None),
        ("gopher_quality: {mean_word_length: {min: 2, max: 9}}", None),
        ("gopher_quality: {stop_words: {min: 3}}", None),
        ("length: {tokens: {min: 3}}", None),
        ("rule: {measure: digit_share, max: 1}", None),
    ],
)  # fmt: skip
def test_half_written_bounds_are_told(stage: str, sentence: str | None) -> None:
    spec = parse_spec(Document.parse(f"stages:\n  - {stage}\n", "p.yaml"), ".")
    assert len(spec.warnings) == (sentence is not None)
    assert sentence is None or spec.warnings[0].startswith(sentence)
    assert make_plan(spec).warnings == spec.warnings


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (["length.tokens.max=1"], "--set: length.tokens.max: expected low <= high, got [2, 1]"),
        (["length.tokns=3"], "--set: length.tokns: unknown parameter"),
        (["length.when={langage: en}"], "--set: length.when: no earlier stage takes"),
        (["length={tokns: 3}"], "--set: length: unknown parameter"),
        (["rule.max=x"], "--set: rule.max: expected a number"),
        (["shard_bytes=x"], "--set: shard_bytes: expected a size"),
    ],
)
def test_faults_of_values_say_that_they_were_set(settings: list[str], expected: str) -> None:
    text = "stages:\n  - length: {tokens: [2, 3]}\n  - rule: {measure: tokens, min: 1}\n"
    with pytest.raises(ConfigError) as caught:
        make_plan(parse_spec(Document.parse(text, "p.yaml"), ".", settings))
    (fault,) = caught.value.faults
    assert str(fault).startswith(expected)


def test_faults_of_a_source_that_was_set() -> None:
    document = Document.parse("sources: {web: {paths: a}}\nstages: [exact]\n", "p.yaml")
    spec = parse_spec(document, ".", ["sources.web.text=content"])
    with pytest.raises(ConfigError, match=re.escape("p.yaml:1:17: sources.web.paths: `a`")):
        find_inputs(spec)
    placed = spec.document.placed(Fault(0, 0, "sources.web.text", "m"))
    assert str(placed) == "--set: sources.web.text: m"
