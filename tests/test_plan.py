"""The plan: what it shows, what it refuses, and when it is another plan."""

# ruff: noqa: E501 (rows of tables)
from __future__ import annotations

import hashlib
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

from cleanpipe.document import Document
from cleanpipe.errors import ConfigError
from cleanpipe.fingerprint import fingerprint
from cleanpipe.parse import document_of
from cleanpipe.plan import Plan, changes, load_plan
from cleanpipe.printing import plan_text

from .golden_files import GOLDEN, same_as_golden
from .stages_for_tests import Count, registered


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    registered(monkeypatch)


def plan_of(*stages: Any, base: str = ".", **more: Any) -> Plan:
    return load_plan(document_of({"stages": list(stages), **more}), base)


def refused(*stages: Any) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        plan_of(*stages)
    return [f"{fault.path}: {fault.message}" for fault in caught.value.faults]


@pytest.mark.parametrize("name", ["plan_toys", "plan_real"])
def test_golden(name: str) -> None:
    made = load_plan(Document.read(str(GOLDEN / f"{name}.yaml")), str(GOLDEN))
    text = plan_text(made, None)
    assert text.startswith(f"plan {made.fingerprint}\n")
    # The content is pinned; digests and versions of tables change with reason.
    same_as_golden(f"{name}.txt", re.sub(r"\b[0-9a-f]{64}\b", "<sha256>", text))


SENTENCES: list[Any] = [
    {"first": {}},
    {"count": {"count": [1, 5]}, "when": {"language": "a"}},
    {"cut": {}},
    {"exact": {}},
]


def fingerprint_with(**changed: Any) -> str:
    stages = changed.pop("stages", SENTENCES)
    tree = {
        "sources": {"a": {"paths": ["x", "y"]}, "b": {"paths": "z"}},
        "shard_bytes": 1000,
        **changed,
    }
    return plan_of(*stages, **tree).fingerprint


def varied(index: int, entry: Any) -> list[Any]:
    return [entry if place == index else other for place, other in enumerate(SENTENCES)]


@pytest.mark.parametrize(
    "changed",
    [
        {"stages": [SENTENCES[0], SENTENCES[2], SENTENCES[1], SENTENCES[3]]},
        {"stages": SENTENCES[:3]},
        {"stages": varied(1, {"count": {"count": [1, 6]}, "when": {"language": "a"}})},
        {"stages": varied(1, {"count": {"count": {"above": 1, "max": 5}}, "when": {"language": "a"}})},
        {"stages": varied(1, {"count": {"count": [1, 5]}, "when": {"language": "b"}})},
        {"stages": varied(1, {"count": {"count": [1, 5]}})},
        {"stages": varied(1, {**SENTENCES[1], "name": "other"})},
        {"stages": varied(2, {"cut": {"put": ""}})},
        {"sources": {"b": {"paths": "z"}, "a": {"paths": ["x", "y"]}}},
        {"sources": {"a": {"paths": ["y", "x"]}, "b": {"paths": "z"}}},
        {"sources": {"a": {"paths": ["x", "y"], "text": "t"}, "b": {"paths": "z"}}},
        {"shard_bytes": 1001},
        {"guards": "off"},
        {"output": {"format": "jsonl"}},
        {"output": {"file_size": "1MB"}},
    ],
)  # fmt: skip
def test_another_plan(changed: Any) -> None:
    assert fingerprint_with(**changed) != fingerprint_with()


@pytest.mark.parametrize(
    "changed",
    [
        {"run": {"workers": 3, "batch_bytes": "1MiB", "scratch": "s", "runner": "ray"}},
        {"output": {"path": "elsewhere"}},
        {"shard_bytes": "1000"},
        {"guards": "stop"},
        {"sources": {"a": {"paths": ["x", "y"], "document": "file"}, "b": {"paths": ["z"]}}},
        {"stages": ["first", *SENTENCES[1:3], "exact"]},
        {"stages": varied(1, {"when": {"language": ["a"]}, "count": {"count": {"min": 1.0, "max": 5}}})},
        {"stages": varied(1, {**SENTENCES[1], "name": "count"})},
        {"stages": varied(2, {"cut": {"letter": "x", "put": None}})},
    ],
)  # fmt: skip
def test_the_same_plan(changed: Any) -> None:
    assert fingerprint_with(**changed) == fingerprint_with()


def test_defaults_written_out_are_the_same_plan() -> None:
    assert (
        plan_of({"gopher_quality": {"whitespace_words": [50, 100000], "stop_words": [2.0, None]}})
        == plan_of("gopher_quality")
    )  # fmt: skip


def test_a_version_is_part_of_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = {"remove": {"unit": "line", "failing": [{"count": {"count": [1, 2]}}]}}
    before = plan_of("count"), plan_of(inner), plan_of("cut")
    monkeypatch.setattr(Count, "version", 2)
    after = plan_of("count"), plan_of(inner), plan_of("cut")
    changed = [b.fingerprint != a.fingerprint for b, a in zip(before, after, strict=True)]
    assert changed == [True, True, False]


@pytest.mark.parametrize(
    "stage",
    [
        {"first": {"model": "m/model.bin"}},
        {"blocklist": {"phrases": "m/*.txt"}},
        {"blocklist": {"phrases": "m/list.txt", "except": "m/list2.txt"}},
        {"perplexity": {"model": "m/model.bin", "profile": "words"}},
        {"perplexity": {"model": "m/stated.bin"}},
        {"remove": {"unit": "line", "failing": [{"blocklist": {"phrases": ["m/list.txt"]}}]}},
    ],
)
def test_content_counts_and_the_folder_does_not(stage: Any, tmp_path: Path) -> None:
    made = []
    for name, word in (("one", b"word"), ("two", b"word"), ("three", b"other")):
        folder = tmp_path / name / "m"
        folder.mkdir(parents=True)
        for file in ("list.txt", "list2.txt", "model.bin", "stated.bin"):
            (folder / file).write_bytes(arpa(file.encode() + word))
        (folder / "stated.bin.json").write_text('{"profile": "words"}')
        sources = {"a": {"paths": "x"}}
        made.append(plan_of(stage, base=str(tmp_path / name), sources=sources))
    assert made[0].resources == made[1].resources
    assert made[0].fingerprint == made[1].fingerprint != made[2].fingerprint
    assert all(name.startswith("m/") for name in made[0].resources)


def arpa(word: bytes) -> bytes:
    """A KenLM model of one word."""
    ones = b"\n".join((b"-1\t<unk>\t0", b"0\t<s>\t0", b"-1\t</s>", b"-1\t" + word + b"\t0"))
    head = b"\\data\\\nngram 1=4\nngram 2=1\n\n\\1-grams:\n"
    return head + ones + b"\n\n\\2-grams:\n-1\t<s> " + word + b"\n\n\\end\\\n"


def test_what_ships_with_the_package_has_no_place() -> None:
    assert not any(name.startswith("/") for name in plan_of("language").resources)


def test_models_that_are_not_what_they_should_be(tmp_path: Path) -> None:
    (tmp_path / "m.bin").write_bytes(arpa(b"x"))
    digest = hashlib.sha256(arpa(b"x")).hexdigest()
    stage = {"perplexity": {"model": "m.bin", "profile": "words", "sha256": digest.upper()}}
    assert plan_of(stage, base=str(tmp_path)).resources == {"m.bin": digest}
    (tmp_path / "m.bin").write_bytes(b"y")
    with pytest.raises(ConfigError, match="the file is damaged or another one") as caught:
        plan_of(stage, base=str(tmp_path))
    assert len(caught.value.faults) == 1
    (tmp_path / "m.bin").unlink()
    with pytest.raises(ConfigError, match="m.bin: No such file"):
        plan_of(stage, base=str(tmp_path))
    (tmp_path / "m.bin").mkdir()
    with pytest.raises(ConfigError, match="m.bin: Is a directory"):
        plan_of(stage, base=str(tmp_path))


@pytest.mark.parametrize(
    ("stages", "phases"),
    [
        ([], [([], [])]),
        (["cut"], [(["cut"], [])]),
        (["exact"], [([], ["exact"]), ([], [])]),
        (["cut", "count", "exact"], [(["cut", "count"], ["exact"]), ([], [])]),
        (
            ["cut", "exact", {"exact": {}, "name": "e2"}, "first", "count"],
            [(["cut"], ["exact", "e2"]), (["first", "count"], [])],
        ),
        (["paragraphs"], [([], ["paragraphs"]), ([], [])]),
        (
            ["cut", "paragraphs", {"paragraphs": {}, "name": "p2"}, "count", "exact", "first"],
            [
                (["cut"], ["paragraphs"]),
                ([], ["p2"]),
                (["count"], ["exact"]),
                (["first"], []),
            ],
        ),
    ],
)
def test_phases(stages: list[Any], phases: list[tuple[list[str], list[str]]]) -> None:
    plan = plan_of(*stages)
    assert [
        ([step.name for step in phase.steps], [step.name for step in phase.barrier])
        for phase in plan.phases
    ] == phases
    assert [step.name for step in plan.steps] == [s for a, b in phases for s in (*a, *b)]
    assert pickle.loads(pickle.dumps(plan)) == plan


def test_a_corpus_rewriter_is_run_after_its_barrier() -> None:
    plan = plan_of("cut", "paragraphs", {"paragraphs": {}, "name": "p2"}, "count", "exact", "first")
    ran = [[step.name for step in plan.run_in(phase)] for phase in range(len(plan.phases))]
    assert ran == [["cut"], ["paragraphs"], ["p2", "count"], ["first"]]
    assert "p2.text_hash" in plan.measures
    stale = plan_of("count", "paragraphs", {"rule": {"measure": "count.count", "max": 1}})
    assert "was measured before paragraphs changed the text" in stale.warnings[0]


@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        (["exact", {"count": {"count": [1, 2]}}], ['"count" comes after "exact"']),
        (["exact", "cut"], ['"cut" comes after "exact"']),
        (["exact", "paragraphs"], ['"paragraphs" comes after "exact"']),
        (
            ["paragraphs", "exact", {"paragraphs": {}, "name": "p2"}, {"exact": {}, "name": "e2"}],
            ['"p2" comes after "exact"', '"e2" must stand beside "exact"'],
        ),
        (["exact", {"first": {"keep": ["a"]}}], ['"first" comes after "exact"']),
        (["exact", "first", {"exact": {}, "name": "e2"}], ['"e2" must stand beside "exact"']),
        (
            ["exact", "first", "cut", {"count": {"count": [1, 2]}}],
            ['"cut" comes after "exact"', '"count" comes after "exact"'],
        ),
        (
            [
                {"first": {}},
                "exact",
                {"count": {"per": "language", "cases": {"a": {}, "b": {"count": [1, 2]}},
                           "else": "keep"}},
            ],
            ['"count" comes after "exact"'],
        ),
        (
            [
                {"first": {}},
                "exact",
                {"count": {"per": "language", "cases": {"a": {}}, "else": "drop"}},
            ],
            ['"count" comes after "exact"'],
        ),
    ],
)  # fmt: skip
def test_after_a_barrier(stages: list[Any], expected: list[str]) -> None:
    found = refused(*stages)
    assert len(found) == len(expected)
    for line, part in zip(found, expected, strict=True):
        assert part in line


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([{"count": {}, "when": {"language": "a"}}, "first"], 'measure or label "language"'),
        ([{"count": {}, "when": {"count.count": [1, 2]}}], 'measure or label "count.count"'),
        (["first", {"count": {}, "when": {"first.siez": 1}}], 'did you mean "first.size"'),
        ([{"rule": {"measure": "cut.cuts", "max": 1}}, "cut"], 'measure or label "cut.cuts"'),
        (
            [{"count": {"per": "lang", "cases": {"a": {}}, "else": "keep"}}],
            'the label "lang"; known: source',
        ),
        (
            [
                "first",
                {"count": {"per": "first.size", "cases": {"1": {}}, "else": "keep"}},
            ],
            'the label "first.size"; known: language, source',
        ),
        (
            [
                {
                    "remove": {
                        "unit": "line",
                        "failing": [{"rule": {"measure": "x.y", "max": 1}}],
                    }
                }
            ],
            'measure or label "x.y"',
        ),
        (
            ["first", {"rule": {"measure": "first.language", "max": 1}}],
            "a label",
        ),
    ],
)
def test_names_nobody_takes(stages: list[Any], message: str) -> None:
    (found,) = refused(*stages)
    assert message in found


@pytest.mark.parametrize(
    "stages",
    [
        ["first", {"count": {}, "when": {"language": "a", "first.size": [1, 2]}}],
        [{"count": {}, "when": {"source": "a", "tokens": [1, 2], "column.year": 2020}}],
        ["cut", {"rule": {"measure": "cut.cuts", "max": 1}}],
        ["first", {"count": {"per": "language", "cases": {"a": {}}, "else": "keep"}}],
        [{"count": {"per": "column.kind", "cases": {"a": {}}, "else": "keep"}}],
        [{"rule": {"measure": "tokens", "max": 1}}],
        ["first", {"exact": {}, "when": {"language": "a"}}],
    ],
)
def test_names_somebody_takes(stages: list[Any]) -> None:
    assert not plan_of(*stages).warnings


def test_measures_of_a_plan() -> None:
    plan = plan_of(
        "first",
        "cut",
        {"rule": {"measure": "cut.cuts", "max": 1}},
        {"rule": {"measure": "tokens", "max": 1}, "name": "short"},
        {"count": {}, "name": "c2"},
    )
    assert plan.measures == {
        "first.language": "label",
        "first.size": "number",
        "cut.cuts": "number",
        "cut.text_hash": "hash",
        "short.tokens": "number",
        "c2.count": "number",
        "c2.capitals": "number",
    }


@pytest.mark.parametrize(
    ("stages", "warnings"),
    [
        (
            ["count", "cut", {"rule": {"measure": "count.count", "max": 1}}],
            ['rule: "count.count" was measured before cut changed the text'],
        ),
        (
            [
                {"length": {"tokens": [1, 2]}},
                "cut",
                {"cut": {"letter": "y"}, "name": "cut2"},
                {"count": {}, "when": {"length.tokens": [1, 9]}},
            ],
            [
                'count: "length.tokens" was measured before cut, cut2 changed the text: write '
                '"tokens" to measure the new text'
            ],
        ),
        # Not stale: taken anew, of the rewriter itself, or a label.
        (["count", "cut", {"count": {}, "name": "c2", "when": {"tokens": [1, 2]}}], []),
        (["cut", {"rule": {"measure": "cut.cuts", "max": 1}}], []),
        (["first", "cut", {"count": {}, "when": {"language": "a"}}], []),
        (["cut", "count", {"rule": {"measure": "count.count", "max": 1}}], []),
    ],
)
def test_stale_measures(stages: list[Any], warnings: list[str]) -> None:
    assert list(plan_of(*stages).warnings) == warnings


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, ["a: was 1, now 2"]),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, ["a.b: was [1, 2], now [1, 3]"]),
        ({"a": 1, "b": 2}, {"b": 2}, ["a: was 1, now gone"]),
        ({"a": 1}, {"a": 1, "b": {"c": "é"}}, ['b: new, {"c": "é"}']),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, [": in another order"]),
        ({"x": {"a": 1, "b": 2}}, {"x": {"b": 2, "a": 1}}, ["x: in another order"]),
        (
            {"stages": [{"name": "l", "max": 1}, {"name": "m"}]},
            {"stages": [{"name": "l", "max": 2}, {"name": "n"}]},
            [
                "stages.l.max: was 1, now 2",
                'stages.m: was {"name": "m"}, now gone',
                'stages.n: new, {"name": "n"}',
            ],
        ),
        (
            {"stages": [{"name": "l"}, {"name": "m"}]},
            {"stages": [{"name": "m"}, {"name": "l"}]},
            ["stages: in another order"],
        ),
        ({"a": "x" * 100}, {"a": 1}, ['a: was "' + "x" * 76 + "..., now 1"]),
        ({"a": 1}, {"a": True}, ["a: was 1, now true"]),
        ({"a": [1, 2]}, {"a": (1, 2)}, []),
    ],
)
def test_changes(before: Any, after: Any, expected: list[str]) -> None:
    assert changes(before, after) == expected
    if expected:
        assert fingerprint(before) != fingerprint(after)


def test_changes_between_plans() -> None:
    before = plan_of({"count": {"count": [1, 5]}}, "exact").described
    after = plan_of({"count": {"count": [2, 5]}}, "cut", "exact", guards="off").described
    assert changes(before, after) == [
        "stages.count.parameters.count: was [1, 5], now [2, 5]",
        'stages.cut: new, {"name": "cut", "kind": "cut", "version": 1, "parameters": {"letter": "x", "p...',
        'guards: was "stop", now "off"',
    ]
