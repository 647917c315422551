"""A pipeline file to a specification, and every fault of it in one go."""

# ruff: noqa: E501 (rows of tables)
from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cleanpipe.bounds import Bounds
from cleanpipe.document import Document
from cleanpipe.errors import ConfigError
from cleanpipe.parse import parse_spec
from cleanpipe.plan import make_plan
from cleanpipe.run import find_inputs
from cleanpipe.spec import Spec, parse_bytes, run_options

from .conftest import Cli
from .golden_files import GOLDEN, same_as_golden


def spec_of(text: str, *settings: str, base: str = ".") -> Spec:
    return parse_spec(Document.parse(text, "p.yaml"), base, settings)


def faults(text: str, *settings: str) -> list[str]:
    """What is wrong with a file, its sources apart, as ``line:column: path: message``."""
    try:
        make_plan(spec_of(text, *settings))
    except ConfigError as error:
        return [re.sub("^p.yaml: ?", "", str(fault)) for fault in error.faults]
    return []


def stages(*entries: str) -> str:
    return "stages:\n" + "".join(f"  - {entry}\n" for entry in entries)


def test_ten_mistakes_at_once(clean: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN.parents[1])
    path = "tests/golden/ten_mistakes.yaml"
    reports = [
        clean("check", path),
        clean("plan", path),
        clean("run", path, "--output", "never-made"),
    ]
    assert [report.code for report in reports] == [2, 2, 2]
    assert len({report.err for report in reports}) == 1
    assert not any(report.out for report in reports)
    lines = reports[0].err.splitlines()
    assert len(lines) == 10
    assert all(re.match(rf"{path}:[1-9]\d*:[1-9]\d*: ", line) for line in lines)
    # A new stage or measure is no reason to change the golden file.
    known = [re.sub(r"(; .*?)(known:|\d+ are known).*", r"\1known: ...", line) for line in lines]
    same_as_golden("ten_mistakes.txt", "\n".join(known) + "\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3\n", ["expected a map with sources, stages, output, shard_bytes, guards, run"]),
        ("", ["expected a map with sources"]),
        ("sources: {}\n", ["stages: expected a list", "1:1: sources: expected a map of s"]),
        ("stages: {length: {}}\n", ["1:1: stages: expected a list of stages"]),
        (stages("3"), ["2:5: stages[0]: expected a stage such as {length: {tokens: [50, null]}}"]),
        (stages("{}"), ["2:5: stages[0]: expected a stage such as"]),
        (stages("{name: x}"), ["2:5: stages[0]: expected one stage beside name and when, got none"]),
        (stages("{length: {}, exact: {}}"), ["2:5: stages[0]: expected one stage beside name and"
                                             " when, got length, exact"]),
        (stages("{exact: {}, wehn: {a: b}}"), ["2:17: stages[0].wehn: unknown stage"]),
        # What was likely meant.
        (stages("digit_share: [null, 0.3]"), ["2:5: stages[0].digit_share: is a measure, and no stage: "
                                              "write rule: {measure: digit_share, max: 0.3}"]),
        (stages("digit_share"), ["2:5: stages[0].digit_share: is a measure, and no stage: write rule: "
                                 "{measure: digit_share}"]),
        (stages("{length: {}, tokens: [1, 2]}"), ["2:18: stages[0].tokens: beside a stage only name and "
                                                  "when may stand; is it a parameter of length, ind"]),
        (stages("length: {tokens: {en: [50, 100]}}"),
         ["2:14: stages[0].length.tokens: expected [low, high] with null for an open end, or a map of "
          "min, max, above, below, got {en: [50, 100]}; for other bounds by language: per: language"]),
        (stages("length: [50, 100]"), ["2:5: stages[0].length: expected a map of parameters, got [50, 1"]),
        (stages("length: {tokens: [[3, null], 4]}"), ["2:14: stages[0].length.tokens: expected a finite "
                                                      "number or null as a bound, got [3, null]"]),
        (stages("rule: {digit_share: [0, 1]}"),
         ['2:5: stages[0].rule: expected the parameter "measure", which is missing',
          "2:12: stages[0].rule.digit_share: unknown parameter; known: above, below, bounds, max, "
          "measure, min, min_tokens"]),
        (
            stages("remove: {unit: line, failing: [length: {per: language, cases: {}, else: keep}]}"),
            ['2:45: stages[0].remove.failing[0].length.per: no cases here: put per beside "unit"'],
        ),
        (
            stages("{gopher_quality: {}, when: {language: en}}"),
            ['2:26: stages[0].when: no earlier stage takes the measure or label "language"; '
             "put language: {} before it"],
        ),
        (
            stages("rule: {measure: remove.removed_share, max: 1}",
                   "remove: {unit: line, failing: [markup: {tags: [null, 0]}]}"),
            ['2:5: stages[0].rule: no earlier stage takes the measure or label "remove.removed_share"; '
             'a later stage takes it: move "remove" before "rule"'],
        ),
        (stages("lenght"), ['2:5: stages[0].lenght: unknown stage; did you mean "length"?']),
        (stages("length"), ["2:5: stages[0].length: expected bounds on at least one"]),
        (stages("length: 3"), ["2:5: stages[0].length: expected a map of parameters, got 3"]),
        (stages("length: {tokens: many}"), ["2:14: stages[0].length.tokens: expected [low, high]"]),
        (stages("length: {tokens: [2, 1]}"), ["2:14: stages[0].length.tokens: expected low <= h"]),
        (stages("length: {tokens: [1, 2], words: [1, 2]}"), ["2:30: stages[0].length.words: says"]),
        (stages("language: {min_score: high}"), ["2:16: stages[0].language.min_score: expected a "
                                                 'number, got "high"']),
        (stages("language: {keep: [en, 3]}"), ["2:27: stages[0].language.keep[1]: expected a text"]),
        (stages("exact", "exact"), ['3:5: stages[1].exact: a second stage called "exact"']),
        (stages("{exact: {}, name: run}"), ["2:17: stages[0].name: expected letters"]),
        (stages("{exact: {}, name: a.b}"), ["2:17: stages[0].name: expected letters"]),
        (stages("{exact: {}, when: {}}"), ["2:17: stages[0].when: expected a map such as"]),
        (stages("gopher_quality: {}", "gopher_quality: {}"), ['3:5: stages[1].gopher_quality: a '
                                                              'second stage called "gopher_qual']),
        # A fault in an entry does not hide those of its other keys, nor its name.
        (
            stages("{length: {tokens: x}, when: {nobody: 1}}", "{length: {tokens: [1, 2]}}"),
            [
                '2:15: stages[0].length.tokens: expected [low, high]',
                '2:27: stages[0].when: no earlier stage takes the measure or label "nobody"',
                '3:6: stages[1].length: a second stage called "length"',
            ],
        ),
        (
            stages("remove: {unit: word, failing: [{length: {x: 1}}, exact, {lines: {}}]}"),
            [
                "2:14: stages[0].remove.unit: expected 'paragraph', 'line' or 'sentence'",
                "2:46: stages[0].remove.failing[0].length.x: unknown parameter",
                '2:54: stages[0].remove.failing[1].exact: expected a filter: "exact" is none',
                "2:62: stages[0].remove.failing[2].lines: is a measure, and no stage: write rule: {me",
            ],
        ),
        (stages("remove: {unit: line}"), ['2:5: stages[0].remove: expected the parameter "failing"']),
        (
            stages("remove: {unit: line, failing: [length: {lines: [1, 2]}, length: {lines: [1, 2]}]}"),
            ['2:61: stages[0].remove.failing[1]: a second filter called "length"'],
        ),
        (
            stages("remove: {unit: line, failing: [{length: {lines: [1, 2]}, when: {source: a}}]}"),
            ["2:62: stages[0].remove.failing[0].when: no condition here"],
        ),
        ("stages: [exact]\nshard_bytes: 64 parsecs\n", ["2:1: shard_bytes: expected a size such as "
                                                        '64MiB or 512MB, got "64 parsecs"']),
        ("stages: [exact]\nshard_bytes: 0\n", ["2:1: shard_bytes: expected at least 1 byte"]),
        ("stages: [exact]\nguards: maybe\n", ["2:1: guards: expected 'stop', 'warn' or 'off'"]),
        ("stages: [exact]\noutput: {file_size: 1}\n", ["2:10: output.file_size: expected at least"]),
        ("stages: [exact]\noutput: {format: csv}\n", ["2:10: output.format: expected 'parquet', 'jsonl' or 'none'"]),
        ("stages: [exact]\noutput: out\n", ["2:1: output: expected a map of parameters, got out"]),
        ("stages: [exact]\nrun: {workers: 0, runner: x}\n", ["2:19: run.runner: expected 'auto'"]),
        ("stages: [exact]\nrun: {workers: 0}\n", ["2:7: run.workers: expected at least 1, got 0"]),
        ("stages: [exact]\nruns: {}\n", ['2:1: runs: unknown key; did you mean "run"?']),
        ("stages: [exact]\nsources: [a]\n", ["2:1: sources: expected a map of sources"]),
        ("stages: [exact]\nsources: {a: x.jsonl}\n", ["2:11: sources.a: expected a map of param"]),
        ("stages: [exact]\nsources: {a: {paths: []}}\n", ["2:15: sources.a.paths: expected at leas"]),
        ("stages: [exact]\nsources: {a: {paths: b, base: c}}\n", ["2:25: sources.a.base: unknown p"]),
        ("stages: [exact]\nsources: {a: {paths: b, format: csv}}\n", ["2:25: sources.a.format: ex"]),
    ],
)  # fmt: skip
def test_mistakes(text: str, expected: list[str]) -> None:
    found = faults(text)
    assert len(found) == len(expected), found
    for line, start in zip(found, expected, strict=True):
        assert line.startswith(start)


PER = """\
stages:
  - language: {}
  - length:
      per: language
      tokens: [1, 10]
      lines: [1, 20]
      cases:
        en: {tokens: [2, 30]}
        zh:
      else: %s
"""


def test_per_picks_parameters() -> None:
    (_, step) = spec_of(PER % "keep").steps
    made = {label: (stage.tokens, stage.lines) for label, stage in step.variants}  # type: ignore[attr-defined]
    assert made == {
        "en": (Bounds(2, 30), Bounds(1, 20)),
        "zh": (Bounds(1, 10), Bounds(1, 20)),
    }
    assert (step.per, step.otherwise) == ("language", "keep")
    assert spec_of(PER % "drop").steps[1].otherwise == "drop"
    step = spec_of(PER % "{lines: [3, 4]}").steps[1]
    assert step.otherwise == 2
    assert step.variants[2][0] is None
    assert step.variants[2][1].lines == Bounds(3, 4)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("      else: keep\n", "", ['3:5: stages[1].length: expected "else": keep, drop or para']),
        ("keep", "stay", ["10:7: stages[1].length.else: expected keep, drop or parameters, got st"]),
        ("keep", "{x: 1}", ["10:14: stages[1].length.else.x: unknown parameter"]),
        ("per: language", "per: [a]", ["4:7: stages[1].length.per: expected the name of a label"]),
        ("per: language", "per: tokens", ["4:7: stages[1].length.per: no earlier stage takes the "
                                          'label "tokens"; known: label, language, source']),
        ("zh:", "zh: 3", ["9:9: stages[1].length.cases.zh: expected a map of parameters, got 3"]),
        ("[2, 30]", "[2, 1]", ["8:14: stages[1].length.cases.en.tokens: expected low <= high"]),
        # What cases share is told once, where it stands.
        ("lines: [1, 20]", "lines: [9, 2]", ["6:7: stages[1].length.lines: expected low <= high"]),
        ("lines:", "liens:", ['6:7: stages[1].length.liens: unknown parameter; did you mean "li']),
        (
            "cases:\n        en: {tokens: [2, 30]}\n        zh:\n",
            "cases:\n",
            ["7:7: stages[1].length.cases: expected a map from label values to parameters"],
        ),
        ("length", "exact", ['4:7: stages[1].exact.per: "exact" looks at all documents: no per']),
    ],
)  # fmt: skip
def test_mistakes_under_per(old: str, new: str, expected: list[str]) -> None:
    found = faults((PER % "keep").replace(old, new))
    assert len(found) == len(expected), found
    for line, start in zip(found, expected, strict=True):
        assert line.startswith(start)


def test_a_macro_is_its_rules() -> None:
    steps = spec_of(
        stages("{gopher_quality: {stop_words: null, mean_word_length: [2, 8]}, when: {source: a}}")
    ).steps
    names = [step.name for step in steps]
    assert names[:2] == ["gopher_quality.whitespace_words", "gopher_quality.mean_word_length"]
    assert len(names) == 7 and "gopher_quality.stop_words" not in names
    assert {step.kind for step in steps} == {"rule"}
    assert steps[1].stages[0].bounds == Bounds(2, 8)  # type: ignore[attr-defined]
    assert all(step.when == steps[0].when is not None for step in steps)
    again = spec_of(stages("gopher_quality"), "gopher_quality.stop_words=null").steps
    assert [step.name for step in again] == names


def test_a_macro_under_per() -> None:
    text = PER.replace("length:", "gopher_quality:").replace("tokens: [1, 10]", "stop_words: null")
    text = text.replace("lines: [1, 20]", "bullet_line_share: [null, 0.5]")
    text = text.replace("tokens: [2, 30]", "stop_words: [4, null]")
    steps = {step.name: step for step in spec_of(text % "{stop_words: [1, null]}").steps}
    # Off for zh: its documents meet no such rule, but other labels do.
    step = steps["gopher_quality.stop_words"]
    assert [label for label, _ in step.variants] == ["en", None]
    assert step.otherwise == 1
    step = steps["gopher_quality.bullet_line_share"]
    assert [label for label, _ in step.variants] == ["en", "zh", None]
    assert step.otherwise == 2
    kept = {step.name: step for step in spec_of(text % "drop").steps}
    assert kept["gopher_quality.stop_words"].otherwise == "drop"


def test_a_macro_all_off_is_no_stage() -> None:
    off = ", ".join(
        f"{name}: null"
        for name in (
            "whitespace_words",
            "mean_word_length",
            "hash_word_ratio",
            "ellipsis_word_ratio",
            "bullet_line_share",
            "ellipsis_line_share",
            "alphabetic_word_share",
            "stop_words",
        )
    )
    spec = spec_of(stages(f"gopher_quality: {{{off}}}", "exact"))
    assert not spec.faults
    assert [step.name for step in spec.steps] == ["exact"]


BROKEN = "language: {keeep: [en]}"


@pytest.mark.parametrize(
    ("broken", "later", "expected"),
    [
        # What a stage with faults would take is not missed.
        (BROKEN, "{exact: {}, when: {language: en}}", 1),
        (BROKEN, "rule: {measure: language.score, min: 0}", 1),
        (BROKEN, "length: {per: language, cases: {en: {lines: [1, 2]}}, else: keep}", 1),
        ("langauge: {}", "rule: {measure: language.score, min: 0}", 1),
        ("langauge: {}", "{exact: {}, when: {language: en}}", 1),
        ("{language: {keeep: 3}, name: lid}", "rule: {measure: lid.score, min: 0}", 1),
        ("remove: {unit: line, failing: []}", "rule: {measure: remove.removed_share, max: 0}", 1),
        # What it would not take is.
        (BROKEN, "{exact: {}, when: {langage: en}}", 2),
        (BROKEN, "rule: {measure: lid.score, min: 0}", 2),
        ("length: {tokns: [1, 2]}", "{exact: {}, when: {language: en}}", 2),
        ("{language: {keeep: 3}, name: lid}", "rule: {measure: language.score, min: 0}", 2),
    ],
)
def test_no_faults_follow_from_another(broken: str, later: str, expected: int) -> None:
    assert len(faults(stages(broken, later))) == expected
    # Only what stands before can take anything.
    assert len(faults(stages(later, broken))) == 2


def test_models_are_looked_for_in_stages_with_other_faults(tmp_path: Path) -> None:
    text = """\
stages:
  - language: {model: gone.bin, characters: many}
  - perplexity:
      per: language
      profile: words
      cases:
        en: {model: en.arpa, bounds: [3, 1]}
        zh: {model: zh.arpa}
      else: keep
  - remove:
      unit: word
      failing:
        - language: {model: lost.bin, keep: [en]}
"""
    with pytest.raises(ConfigError) as caught:
        make_plan(spec_of(text, base=str(tmp_path)))
    found = [
        (fault.line, fault.path.rpartition(".")[2], fault.message.split(": ")[-1].split(",")[0])
        for fault in caught.value.faults
    ]
    assert found == [
        (2, "model", "No such file or directory"),
        (2, "characters", "expected a whole number"),
        (7, "model", "No such file or directory"),
        (7, "bounds", "nothing passes"),
        (8, "model", "No such file or directory"),
        (11, "unit", "expected 'paragraph'"),
        (13, "model", "No such file or directory"),
    ]


def test_sources_are_looked_at_beside_other_faults(tmp_path: Path, clean: Cli) -> None:
    for name in ("good", "other"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"content": "x", "id": "1"}) + "\n")
    path = tmp_path / "p.yaml"
    path.write_text(
        "sources:\n"
        "  gone: {paths: gone.jsonl, text: body}\n"
        "  my.web: {paths: good.jsonl}\n"
        "  bad: {paths: other.jsonl, txt: content}\n"
        "  twice: {paths: good.jsonl, text: content}\n"
        "  urls: {paths: other.jsonl, text: content, url: address}\n"
        "stages:\n  - exact\n"
    )
    # Nothing but the sources, with and without a fault of the file itself.
    for mistake in ("", "shard_bytes: x\n"):
        path.write_text(path.read_text() + mistake)
        ended = clean("check", path)
        assert ended.code == 2
        starts = [
            "2:10: sources.gone.paths: `gone.jsonl` matches no file",
            "3:3: sources.my.web.text: no column `text`",
            "4:29: sources.bad.txt: unknown parameter",
            "5:11: sources.twice.paths: `good.jsonl` is read twice",
            "6:45: sources.urls.url: no column `address`",
            *(["9:1: shard_bytes: expected a size"] if mistake else []),
        ]
        lines = ended.err.splitlines()
        assert len(lines) == len(starts), ended.err
        for line, start in zip(lines, starts, strict=True):
            assert line.startswith(f"{path}:{start}")


@pytest.mark.parametrize(
    ("source", "rule", "expected"),
    [
        ("{paths: a.jsonl}", "rule: {measure: column.year, min: 1}", []),
        ("{paths: a.jsonl}", "rule: {measure: column.yaer, min: 1}",
         ['4:5: stages[0].rule: no source has a "column.yaer"; did you mean "column.year"?']),
        ("{paths: a.jsonl}", "rule: {measure: column.title, min: 1}",
         ['4:5: stages[0].rule: expected a column of numbers: "column.title" is large_string']),
        ("{paths: a.jsonl}",
         "remove: {unit: line, failing: [rule: {measure: column.title, min: 1}]}",
         ['4:5: stages[0].remove: expected a column of numbers: "column.title" is large_string']),
        # The column may be in the source that cannot be read.
        ("{paths: gone.jsonl}", "rule: {measure: column.yaer, min: 1}", ["2:7: sources.s.paths: "]),
        ("{path: a.jsonl}", "rule: {measure: column.yaer, min: 1}",
         ["2:3: sources.s: expected the parameter", "2:7: sources.s.path: unknown parameter"]),
    ],
)  # fmt: skip
def test_bounds_on_columns(
    tmp_path: Path, clean: Cli, source: str, rule: str, expected: list[str]
) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "x", "year": 1, "title": "y", "id": "1"}\n')
    path = tmp_path / "p.yaml"
    path.write_text(f"sources:\n  s: {source}\nstages:\n  - {rule}\n")
    ended = clean("check", path)
    assert ended.code == (2 if expected else 0)
    lines = ended.err.splitlines()
    assert len(lines) == len(expected)
    for line, start in zip(lines, expected, strict=True):
        assert line.startswith(f"{path}:{start}")


def test_inputs_beside_the_file_have_no_line(tmp_path: Path, clean: Cli) -> None:
    path = tmp_path / "p.yaml"
    path.write_text("sources:\n  a: {paths: gone}\nstages:\n  - exact\nguards: x\n")
    ended = clean("run", path, "--input", tmp_path / "*.jsonl", "--output", tmp_path / "out")
    assert ended.code == 2
    assert f"{path}: sources.input.paths: `{tmp_path}/*.jsonl` matches no file" in ended.err
    assert f"{path}:5:1: guards:" in ended.err
    assert "gone" not in ended.err
    assert not (tmp_path / "out").exists()


def test_the_faults_of_sources_have_lines_when_a_run_finds_them(tmp_path: Path) -> None:
    plan = make_plan(spec_of("sources:\n  a: {paths: gone}\nstages: [exact]\n", base=str(tmp_path)))
    with pytest.raises(ConfigError) as caught:
        find_inputs(plan)
    assert str(caught.value) == "p.yaml:2:7: sources.a.paths: `gone` matches no file"


@pytest.mark.parametrize(
    ("written", "size"),
    [
        (5, 5),
        ("512MB", 512 * 10**6),
        ("64MiB", 64 * 2**20),
        ("1.5 KiB", 1536),
        ("2gb", 2 * 10**9),
        ("1 GiB", 2**30),
        ("7", 7),
        ("3KB", 3000),
        (None, None),
    ],
)
def test_sizes(written: object, size: object) -> None:
    assert parse_bytes(written) == size


@pytest.mark.parametrize("written", ["", "MB", "-1MB", "1TB", "1 M B", "1e6", "64M"])
def test_no_sizes(written: str) -> None:
    with pytest.raises(ValueError, match="expected a size such as 64MiB or 512MB"):
        parse_bytes(written)


def test_options_given_replace_those_of_the_file() -> None:
    options = spec_of("stages: [exact]\nrun: {runner: ray, workers: 3, scratch: s}\n").run
    changed: Any = run_options(options, runner="inline", workers=None)
    assert (changed.runner, changed.workers) == ("inline", 3)
    assert changed.scratch == "s"


@pytest.mark.parametrize(
    ("stage", "place"),
    [
        ({"length": {"tokens": [1, None]}, "when": {"column.titel": "x"}}, "stages[0].when"),
        (
            {"length": {"per": "column.titel", "cases": {"x": {"tokens": [1, 2]}}, "else": "keep"}},
            "stages[0].length.per",
        ),
    ],
)
def test_a_column_that_no_source_has(
    stage: dict[str, Any], place: str, tmp_path: Path, clean: Cli
) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a", "title": "b"}\n', encoding="utf-8")
    (tmp_path / "p.yaml").write_text(
        json.dumps({"sources": {"a": {"paths": "a.jsonl"}}, "stages": [stage]}), encoding="utf-8"
    )
    done = clean("check", str(tmp_path / "p.yaml"))
    assert done.code == 2
    assert f'{place}: no source has a "column.titel"; did you mean "column.title"?' in done.err


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        (
            ["language: {}", "length: {per: language, cases: {cn: {tokens: [1, 2]}}, else: drop}"],
            '3:37: stages[1].length.cases.cn: no document has the language "cn"',
        ),
        (
            ["language: {}", "length: {tokens: [1, 2]}\n    when: {language: [1, 5]}"],
            '4:12: stages[1].when.language: "language" is a label, which has no bounds',
        ),
        (
            ["language: {}", "length: {tokens: [1, 2]}\n    when: {language: [en, english]}"],
            '4:12: stages[1].when.language: no document has the language "english"',
        ),
        (
            [
                "language: {}",
                "length: {per: language, tokens: [1, 2], cases: {en: {tokens: [3, 4]}}, else: keep}",
            ],
            "3:29: stages[1].length.tokens: every case has its own: this one is never used",
        ),
    ],
)
def test_what_would_never_apply(entries: list[str], fault: str) -> None:
    (found,) = faults(stages(*entries))
    assert found.startswith(fault)


def test_a_source_that_is_none(tmp_path: Path, clean: Cli) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n', encoding="utf-8")
    (tmp_path / "p.yaml").write_text(
        "sources: {web: {paths: a.jsonl}}\n"
        + stages("length: {tokens: [1, 2]}\n    when: {source: wbe}"),
        encoding="utf-8",
    )
    done = clean("check", tmp_path / "p.yaml")
    assert done.code == 2 and 'no document has the source "wbe"; did you mean "web"?' in done.err
    assert clean("check", tmp_path / "p.yaml", "--input", tmp_path / "a.jsonl").code == 0
