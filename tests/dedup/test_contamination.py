"""The stage ``contamination``: hits and their evidence, actions, and what is at fault."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from cleanpipe import Pipeline, Result, contamination
from cleanpipe.dedup.contamination import Contamination
from cleanpipe.dedup.hits import Hit
from cleanpipe.parameters import LocalPath
from cleanpipe.text import segments
from cleanpipe.units import Units

from ..filters.table import faults, made
from ..jobs import jsonl
from .reference_contamination import TestSet, Texts
from .test_item_index import SLOW, Set, built, cases, large, words

NEST = "Which bird builds its nest on cold northern cliffs?"
PUFFIN = "Each puffin digs burrows near steep rocky shores."
WINGS = "How many wings has an ordinary garden beetle?"
PROGRAM = "def area(a, b):\n    return a * b / 2\n"
BIRDS = [
    {"id": "b1", "question": NEST, "answer": PUFFIN},
    {"id": "b2", "question": WINGS, "answer": "4"},
]
MATHS = [{"id": "m1", "q": "小红有十二张碟，送给小明三张"}, {"id": "m2", "q": "二"}]
CODE = [{"task": "c1", "prompt": PROGRAM}]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the test sets are; paths are relative to it."""
    jsonl(tmp_path / "birds.jsonl", BIRDS)
    jsonl(tmp_path / "maths.jsonl", MATHS)
    jsonl(tmp_path / "code.jsonl", CODE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


TESTS: Mapping[str, Any] = {
    "birds": {"paths": "birds.jsonl", "fields": ["question", "answer"]},
    "maths": "maths.jsonl",
    "code": {"paths": "code.jsonl", "id": "task", "tokens": "code"},
}


def run(texts: Sequence[str], *stages: Any, **parameters: Any) -> Result:
    stage = {"contamination": {"tests": TESTS, **parameters}}
    made = Pipeline.from_dict({"stages": [*stages[:1], stage, *stages[1:]]})
    return made.run(pa.array(texts))


def members(**parameters: Any) -> dict[str, Any]:
    """The stages it becomes, by their names."""
    return dict(made(Contamination, parameters).expand())


def units(*texts: str) -> Units:
    lengths = np.array([len(text) for text in texts], np.float64)
    return Units(large(texts), {"characters": lengths})


# ---- hits: one item, its parts, what stands where ----


def hits_of(parts: Texts, text: str, tmp_path: Path, **options: Any) -> list[Hit]:
    """Of a set of this one item; the reference finds the same."""
    found = hits([list(parts)], [text], tmp_path, **options)
    same(found, [list(parts)], [text], **options)
    return found


def hits(
    items: Sequence[Texts],
    texts: Sequence[str],
    folder: Path,
    threshold: float | None = None,
    *,
    code: bool = False,
    **options: Any,
) -> list[Hit]:
    path = folder / "index"
    built(("s", "code" if code else "words", items), **options).save(path)
    [stage] = members(index=str(path), action="flag", threshold=threshold).values()
    found: list[Hit] = stage.hits(large(texts))
    return found


def same(
    found: Sequence[Hit],
    items: Sequence[Texts],
    texts: Sequence[str],
    threshold: float | None = None,
    **options: Any,
) -> None:
    of = TestSet(items, **options)
    expected = [
        (unit, str(hit.item), hit.evidence, hit.score, hit.start, hit.end, hit.passages)
        for unit, text in enumerate(texts)
        for hit in of.hits(text, threshold)
    ]
    shown = [(h.unit, h.item, h.evidence, h.score, h.start, h.end, h.passages) for h in found]
    assert shown == expected


PAIR: Texts = [("question", words(0, 8, "q")), ("answer", words(0, 8, "a"))]
QUESTION, ANSWER = (text for _, text in PAIR)
SHORT: Texts = [("question", QUESTION), ("answer", "18\n%")]
BLIND: Texts = [("question", QUESTION), ("answer", "18\neggs")]


@pytest.mark.parametrize(
    ("parts", "text", "evidence", "passages"),
    [
        (PAIR, f"x {QUESTION} {ANSWER} x", "question+answer", [QUESTION, ANSWER]),
        (PAIR, f"{ANSWER} {QUESTION}", "question+answer", [ANSWER, QUESTION]),
        (PAIR, f"x {QUESTION} x", "question", [QUESTION]),
        (PAIR, f"x {ANSWER} x", "answer", [ANSWER]),
        # The first token is the 64th behind the last, and the 65th.
        (PAIR, f"{QUESTION} {words(0, 63)} {ANSWER}", "question+answer", [QUESTION, ANSWER]),
        (PAIR, f"{QUESTION} {words(0, 64)} {ANSWER}", "question, answer", [QUESTION, ANSWER]),
        (PAIR, f"{ANSWER} {words(0, 63)} {QUESTION}", "question+answer", [ANSWER, QUESTION]),
        (PAIR, f"{ANSWER} {words(0, 64)} {QUESTION}", "question, answer", [ANSWER, QUESTION]),
        # Any of its passages.
        (
            PAIR,
            f"{QUESTION} {words(0, 90)} {QUESTION} {ANSWER}",
            "question+answer",
            [QUESTION, QUESTION, ANSWER],
        ),
        # In the order of the item; each with the one before it.
        (
            [("c", words(0, 5, "c")), *PAIR],
            f"{ANSWER} {QUESTION} {words(0, 90)} {words(0, 5, 'c')}",
            "c, question+answer",
            [ANSWER, QUESTION, words(0, 5, "c")],
        ),
        # Short parts, all of it, near by, and beside what was found.
        (SHORT, f"{QUESTION} = 18", "question+answer", [QUESTION, "18"]),
        (SHORT, f"18: {QUESTION}", "question+answer", ["18", QUESTION]),
        (SHORT, f"18 {words(0, 15)} {QUESTION}", "question+answer", ["18", QUESTION]),
        (SHORT, f"{QUESTION} {words(0, 15)} 18", "question+answer", [QUESTION, "18"]),
        (SHORT, f"18 {words(0, 16)} {QUESTION} {words(0, 16)} 18", "question", [QUESTION]),
        (SHORT, "18 of it", None, []),
        (BLIND, f"{QUESTION} 18\n\neggs 18 eggs", "question+answer", [QUESTION, "18\n\neggs"]),
        (BLIND, f"{QUESTION} eggs 18", "question", [QUESTION]),
        (BLIND, f"{QUESTION} 18 big eggs", "question", [QUESTION]),
        ([*PAIR, ("n", "q3")], f"{QUESTION} {ANSWER}", "question+answer", [QUESTION, ANSWER]),
        # It may begin in what was found, but not lie within it.
        (
            [("question", f"{QUESTION} is 18"), ("answer", "is 18 eggs")],
            f"{QUESTION} is 18 eggs",
            "question+answer",
            [f"{QUESTION} is 18", "is 18 eggs"],
        ),
        # What a passage takes in beside its part is not of its part.
        (
            [("question", words(0, 10, "q")), ("answer", f"No {words(3, 7, 'q')}")],
            f"{words(0, 10, 'q')} No {words(3, 7, 'q')}",
            "question+answer",
            [
                f"{words(0, 10, 'q')} No {words(3, 7, 'q')}",
                f"{words(3, 10, 'q')} No {words(3, 7, 'q')}",
                words(3, 7, "q"),
            ],
        ),
        (
            [("q", f"what {words(0, 7)}"), ("a", f"there are no what {words(0, 7)}")],
            f"what {words(0, 7)} there are no what {words(0, 7)}",
            "q+a",
            None,
        ),
        # An answer that repeats its question is not found in it.
        (
            [("question", QUESTION), ("answer", words(2, 7, "q"))],
            f"x {QUESTION}",
            "question",
            [QUESTION],
        ),
        (
            [("answer", words(2, 7, "q")), ("question", QUESTION)],
            f"x {QUESTION}",
            "question",
            [QUESTION],
        ),
        # Two that are judged together are one piece of evidence.
        ([("a", "a b"), ("b", "c d"), *PAIR], f"a b c d {ANSWER}", "a+b, answer", None),
    ],
)
def test_evidence(
    parts: Texts, text: str, evidence: str | None, passages: list[str] | None, tmp_path: Path
) -> None:
    found = hits_of(parts, text, tmp_path)
    if evidence is None:
        assert found == []
        return
    [hit] = found
    if passages is None:
        evidence = evidence.replace(", ", "+")
    else:
        data = text.encode()
        assert [data[start:end].decode() for start, end in hit.passages] == passages
    assert hit.evidence == evidence


@pytest.mark.parametrize("before", [True, False])
def test_a_short_part_16_tokens_away(before: bool, tmp_path: Path) -> None:
    ends = ("18", QUESTION) if before else (QUESTION, "18")
    [hit] = hits([SHORT], [f"{ends[0]} {words(0, 16)} {ends[1]}"], tmp_path)
    assert hit.evidence in ("question", "question+answer")


def test_the_evidence_of_parts_that_are_judged_together(tmp_path: Path) -> None:
    [hit] = hits([[("question", "a b c"), ("answer", "d")]], ["x a b c x"], tmp_path, 0.7)
    assert hit.evidence == "question"


def test_the_best_passage_is_the_hit_s(tmp_path: Path) -> None:
    changed = QUESTION.replace("q4", "x")
    far = words(0, 40)
    text = f"{changed} é {far} {QUESTION} {far} {QUESTION} {ANSWER.replace('a6', 'x')}"
    [hit] = hits_of(PAIR, text, tmp_path)
    assert hit.score == 1.0
    assert hit.threshold == pytest.approx(0.65)
    assert hit.start == len(f"{changed} é {far} ".encode())
    assert text.encode()[hit.start : hit.end].decode() == QUESTION
    assert len(hit.passages) == 4
    assert hits_of(PAIR, text, tmp_path, threshold=0.9)[0].threshold == 0.9


@SLOW
@given(case=cases())
def test_hits_equal_the_reference(
    case: tuple[list[Texts], list[str], dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    items, texts, options = case
    found = hits(items, texts, tmp_path_factory.getbasetemp(), **options)
    same(found, items, texts, **options)


# ---- actions ----

TEXTS = [
    "Nothing here.",
    f"A quiz. {NEST} And so on.",
    f"{WINGS}\n4\n",
    "问：小红有十二张碟，送给小明三张。",
    f"Like this:\n{PROGRAM}\n\nOr: {NEST} {PUFFIN} End.",
    "",
]


def test_drop(folder: Path) -> None:
    result = run(TEXTS, action="drop")
    assert result.kept.column("text").to_pylist() == [TEXTS[0], ""]
    rows = result.dropped.to_pylist()
    assert [
        (
            row["id"],
            row["stage"],
            row["rule"],
            row["measure"],
            row["value"],
            row["test_set"],
            row["test_item"],
            row["test_evidence"],
            row["match"],
        )
        for row in rows
    ] == [
        (
            1,
            "contamination",
            "items",
            "contamination.items",
            1,
            "birds",
            "b1",
            "question",
            NEST[:-1],
        ),
        (
            2,
            "contamination",
            "items",
            "contamination.items",
            1,
            "birds",
            "b2",
            "question+answer",
            WINGS[:-1],
        ),
        (3, "contamination", "items", "contamination.items", 1, "maths", "m1", "q", MATHS[0]["q"]),
        (
            4,
            "contamination",
            "items",
            "contamination.items",
            2,
            "birds",
            "b1",
            "question+answer",
            NEST[:-1],
        ),
    ]
    for row in rows:
        data = TEXTS[row["id"]].encode()
        assert data[row["match_start"] : row["match_end"]].decode() == row["match"]
        assert row["test_score"] == 1.0


def test_flag(folder: Path) -> None:
    result = run(TEXTS, action="flag")
    assert result.kept.column("text").to_pylist() == TEXTS
    measures = result.measures.to_pydict()
    assert measures["contamination.test_set"] == [
        None,
        "birds",
        "birds",
        "maths",
        "birds,code",
        None,
    ]
    assert measures["contamination.items"] == [0, 1, 1, 1, 2, 0]
    assert measures["contamination.score"] == [0, 1, 1, 1, 1, 0]
    rows = result.matches.to_pylist()
    assert [(row["id"], row["action"], row["test_set"], row["test_item"]) for row in rows] == [
        (1, "flag", "birds", "b1"),
        (2, "flag", "birds", "b2"),
        (3, "flag", "maths", "m1"),
        (4, "flag", "birds", "b1"),
        (4, "flag", "code", "c1"),
    ]
    assert rows[-1]["match"] == "def area(a, b):\n    return a * b / 2"
    assert rows[-1]["evidence"] == "prompt"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"A quiz. {NEST} And so on.", "A quiz. And so on."),
        (f"{NEST} And so on.", "And so on."),
        (f"A quiz.\n\n{NEST}", "A quiz."),
        (NEST, None),
        (f" {NEST}\n", None),
        # All of the sentence goes, and no other.
        (f"One.  He asked: {NEST} \tTwo.  Three.", "One.  Two.  Three."),
        # What repeats goes each time; what lies between stays byte for byte.
        (f"{NEST} Ｉn—“é”.\r\n {NEST} x", "Ｉn—“é”.\r\n x"),
        (f"{NEST}\n\n{PUFFIN}\nEnd.", "End."),
        # Two passages in one sentence are one edit.
        (f"So: {NEST[:-1]} and {PUFFIN} End.", "End."),
        (f"a\n{PROGRAM}b", "a\nb"),
        ("碟。小红有十二张碟，送给小明三张。好！", "碟。好！"),
        # An item over several lines.
        (f"One. {NEST.replace(' nest', chr(10) + 'nest')} Two.", "One.\nTwo."),
    ],
)
def test_cut(text: str, expected: str | None, folder: Path) -> None:
    result = run(["x y", text], action="cut")
    kept = result.kept.column("text").to_pylist()
    left = kept[1] if len(kept) == 2 else None
    if expected is None:
        assert left is None
        [row] = result.dropped.to_pylist()
        assert (row["id"], row["stage"], row["test_set"]) == (1, "contamination", None)
        return
    assert left == expected
    # The edits say what was taken: what they leave is the text that is kept.
    data = b""
    edits = sorted(result.edits.to_pylist(), key=lambda edit: edit["start"])
    place = 0
    for edit in edits:
        assert edit["id"] == 1
        assert edit["start"] >= place
        data += text.encode()[place : edit["start"]]
        place = edit["end"]
        assert (edit["rule"], edit["measure"]) == ("items", "score")
        assert edit["value"] == 1.0
        assert edit["match"].split(": ")[0] in TESTS
    assert (data + text.encode()[place:]).decode() == left
    assert result.measures["contamination.removed_units"].to_pylist() == [0, len(edits)]
    share = (len(text) - len(expected)) / len(text)
    assert result.measures["contamination.removed_share"].to_pylist()[1] == pytest.approx(share)


def test_a_cut_takes_whole_sentences(folder: Path) -> None:
    text = f"One. Two {NEST} Three! Four {PUFFIN} Five."
    edits = run([text], action="cut").edits.to_pylist()
    parts = segments(large([text]), "sentence")
    starts, ends = set(parts.start.tolist()), set(parts.end.tolist())
    for edit in edits:
        taken = text.encode()[edit["start"] : edit["end"]]
        assert edit["start"] + len(taken) - len(taken.lstrip()) in starts
        assert edit["end"] - len(taken) + len(taken.rstrip()) in ends


def test_an_action_for_each_set(folder: Path) -> None:
    tests = {**TESTS, "code": {**TESTS["code"], "action": "flag"}}
    result = run(TEXTS, tests=tests, action={"birds": "cut", "maths": "drop", "code": "cut"})
    assert [(row["id"], row["stage"]) for row in result.dropped.to_pylist()] == [
        (2, "contamination.cut"),  # there is nothing left of it
        (3, "contamination.drop"),
    ]
    kept = dict(zip(*(result.kept[name].to_pylist() for name in ("id", "text")), strict=True))
    cut = f"Like this:\n{PROGRAM}\n\nEnd."
    assert kept == {0: TEXTS[0], 1: "A quiz. And so on.", 4: cut, 5: ""}
    rows = result.matches.to_pylist()
    assert {(row["stage"], row["action"], row["test_set"]) for row in rows} == {
        ("contamination.flag", "flag", "code"),
        ("contamination.drop", "drop", "maths"),
        ("contamination.cut", "cut", "birds"),
    }
    measures = result.measures.to_pydict()
    assert measures["contamination.flag.test_set"] == [None] * 4 + ["code", None]
    sets = [entry["action"] for entry in result.summary["test_sets"]]
    assert sorted(sets) == ["cut", "drop", "flag"]


def test_members(folder: Path) -> None:
    assert list(members(tests=TESTS, action="drop")) == [""]
    found = members(tests=TESTS, action={"birds": "cut", "maths": "flag", "code": "drop"})
    assert list(found) == ["flag", "drop", "cut"]
    assert [stage.sets for stage in found.values()] == [("maths",), ("code",), ("birds",)]
    [info] = found["cut"].test_sets()
    assert (info.name, info.action, info.items, info.too_short) == ("birds", "cut", 2, ())
    [info] = found["flag"].test_sets()
    assert info.too_short == ("m2",)
    assert found["cut"].item_text("birds", "b2") == f"{WINGS}\n4"
    assert {Path(of.path).name for of in found["cut"].resources()} == {"birds.jsonl"}


@pytest.mark.parametrize("action", ["flag", "drop", "cut"])
def test_pickled(action: str, folder: Path) -> None:
    [stage] = members(tests=TESTS, action=action).values()
    before = stage.hits(large(TEXTS))
    data = pickle.dumps(stage)
    assert NEST.encode() not in data, "the items do not travel"
    again = pickle.loads(data)
    assert again == stage
    assert again.hits(large(TEXTS)) == before != []


def test_an_index_is_the_same_as_its_sets(folder: Path) -> None:
    [stage] = members(tests=TESTS, action="flag").values()
    stage.items.save(folder / "all.index")
    for actions in ("flag", {"birds": "drop", "maths": "flag", "code": "flag"}):
        of_sets = members(tests=TESTS, action=actions)
        of_index = members(index="all.index", action=actions)
        assert list(of_sets) == list(of_index)
        for name, stage in of_sets.items():
            found = of_index[name].hits(large(TEXTS))
            expected = stage.hits(large(TEXTS))
            # The parts have other numbers.
            assert [hit._replace(parts=()) for hit in found] == [
                hit._replace(parts=()) for hit in expected
            ]
            assert Path("all.index") in [Path(of.path) for of in of_index[name].resources()]


def test_evidence_of_a_drop_is_the_best(folder: Path) -> None:
    changed = NEST.replace("cold", "hot")
    [stage] = members(tests=TESTS, action="drop").values()
    of = units(f"{changed} {WINGS}", "x", f"{WINGS} {NEST}")
    measures = stage.measure(of)
    assert measures["items"].tolist() == [2, 0, 2]
    first, none, equal = stage.evidence(of, np.ones(3, np.uint16), measures)
    assert (first.test_item, first.score, first.match) == ("b2", 1.0, WINGS[:-1])
    assert none is None
    assert equal.test_item == "b1"


def test_threshold_and_min_weight(folder: Path) -> None:
    half = "Which bird builds its nest? Roofs."
    assert run([half], action="flag").matches.num_rows == 0
    [row] = run([half], action="flag", threshold=0.5).matches.to_pylist()
    assert (row["threshold"], row["match"]) == (0.5, half[: half.index("?")])
    assert 0.5 < row["score"] < 0.75
    assert run(["二"], action="flag").matches.num_rows == 0
    [row] = run(["二"], action="flag", min_weight=0.25).matches.to_pylist()
    assert (row["test_item"], row["match"]) == ("m2", "二")


def test_a_reference(folder: Path) -> None:
    """A phrase that two ordinary texts have counts for nothing."""
    jsonl(folder / "sets.jsonl", [{"q": "once upon a time there lived", "a": "no"}])
    jsonl(folder / "plain.jsonl", [{"text": f"Once upon a time there lived {who}"} for who in "ab"])
    jsonl(folder / "one.jsonl", [{"text": "Once upon a time there lived a"}])
    text, tests = "once upon a time there lived", {"s": "sets.jsonl"}
    found = run([text], tests=tests, action="flag")
    assert found.matches.num_rows == 1
    found = run([text], tests=tests, action="flag", reference="one.jsonl")
    assert found.matches.num_rows == 1
    found = run([text], tests=tests, action="flag", reference="plain.jsonl")
    assert found.matches.num_rows == 0
    assert found.summary["test_sets"][0]["too_short"] != found.summary["test_sets"][0]["items"]


def test_when_and_rule(folder: Path) -> None:
    texts = [NEST, f"Long enough to be looked at, and more. {NEST}"]
    stage = {"contamination": {"tests": TESTS, "action": "drop"}, "when": {"column.lang": "en"}}
    table = pa.table({"text": [NEST, NEST], "lang": ["en", "de"]})
    result = Pipeline.from_dict({"stages": [stage]}).run(table)
    assert result.kept["lang"].to_pylist() == ["de"]
    rule = {"rule": {"measure": "contamination.score", "max": 0.5}}
    assert run(texts, {"length": {"chars": [1, None]}}, rule, action="flag").kept.num_rows == 0


def test_in_memory(folder: Path) -> None:
    """`cleanpipe.contamination` finds what a pipeline finds."""
    table = contamination(TEXTS, TESTS)
    assert table.column_names == [
        "id",
        "test_set",
        "test_item",
        "score",
        "match",
        "match_start",
        "match_end",
        "evidence",
    ]
    assert table.equals(run(TEXTS, action="flag").matches.select(table.column_names))
    assert contamination([], TESTS).num_rows == 0
    assert contamination([NEST, None], "birds.jsonl")["test_set"].to_pylist() == ["birds"]
    half = ["Which bird builds its nest? Roofs."]
    assert contamination(half, ["birds.jsonl", "maths.jsonl"], threshold=0.5).num_rows == 1


# ---- faults ----


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, ": expected tests, or an index of them"),
        (
            {"tests": "birds.jsonl", "index": "x", "action": "drop"},
            "index: expected tests or an index of them, got both: drop one",
        ),
        ({"tests": "birds.jsonl"}, ": expected an action for birds: drop, cut or flag"),
        (
            {"tests": TESTS, "action": {"birds": "drop"}},
            "action: expected an action for maths, code: drop, cut or flag",
        ),
        (
            {"tests": "birds.jsonl", "action": {"brids": "drop", "birds": "cut"}},
            'action: no test set is called "brids"; did you mean "birds"?',
        ),
        (
            {"tests": "birds.jsonl", "action": "drop", "threshold": 0},
            "threshold: expected a share above 0 and at most 1, got 0.0",
        ),
        (
            {"tests": "birds.jsonl", "action": "drop", "threshold": 1.5},
            "threshold: expected a share above 0 and at most 1, got 1.5",
        ),
        (
            {"tests": "birds.jsonl", "action": "drop", "min_weight": 0},
            "min_weight: expected a weight above 0, got 0.0",
        ),
        (
            {"index": "all.index", "action": "drop", "min_weight": 3},
            "min_weight: the index has its own: say it to `cleanpipe index build`",
        ),
        (
            {"index": "all.index", "action": "drop", "reference": "plain.txt"},
            "reference: the index has its own: say it to `cleanpipe index build`",
        ),
        (
            {"index": "birds.jsonl", "action": "drop"},
            "index: birds.jsonl: no index of test sets; build one with `cleanpipe index build`",
        ),
        (
            {"index": "none", "action": "drop"},
            "index: none",
        ),
        ({"tests": {"a": "none.jsonl"}, "action": "drop"}, "tests"),
        ({"tests": {"a": "empty.jsonl"}, "action": "drop"}, "tests.a: empty.jsonl: has no items"),
        ({"tests": "birds.jsonl", "action": "drop", "reference": "none"}, "reference"),
        (
            {"tests": "birds.jsonl", "action": "drop", "reference": "birds.jsonl"},
            "reference: expected JSON lines or Parquet with a column `text`, or text: no column",
        ),
        ({"tests": "birds.jsonl", "action": "burn"}, "action"),
    ],
)
def test_faults(parameters: Mapping[str, Any], expected: str, folder: Path) -> None:
    (folder / "empty.jsonl").write_text("\n")
    (folder / "plain.txt").write_text("As ever.")
    [stage] = members(tests=TESTS, action="flag").values()
    stage.items.save(folder / "all.index")
    [found] = faults(Contamination, parameters)
    assert found.startswith(expected)


def test_paths_are_shown_as_they_were_written(folder: Path) -> None:
    [found] = faults(Contamination, {"index": LocalPath("maths.jsonl"), "action": "drop"})
    assert found.startswith("index: maths.jsonl: no index of test sets")


# ---- a set of prose and programs ----

TASK = "Compute the seventh catalan number without recursion, memoized."
SOLUTION = (
    "def catalan(n):\n    row = [1] + [0] * n\n    for i in range(2, n + 1):\n"
    "        row[i] = sum(row[j] * row[i - j - 1] for j in range(i))\n    return row[n]\n"
)


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        (f"{TASK.upper()} {words(0, 3)}", "task"),
        (f"{words(0, 3)}\n{SOLUTION}", "code"),
        (f"{TASK}\n{SOLUTION}", "task+code"),
        (f"{SOLUTION}\n{TASK}", "task+code"),
        (f"{TASK}\n{words(0, 200)}\n{SOLUTION}", "task, code"),
    ],
)
def test_prose_by_words_and_code_by_code(text: str, evidence: str, folder: Path) -> None:
    jsonl(folder / "both.jsonl", [{"task": TASK, "code": SOLUTION}])
    tests = {"both": {"paths": "both.jsonl", "tokens": {"code": "code"}}}
    found = contamination([text], tests)
    assert (found["evidence"].to_pylist(), found["score"].to_pylist()) == ([evidence], [1.0])
    other = text.translate(str.maketrans("+-*=", "%^|~"))
    score = contamination([other], tests)["score"].to_pylist()
    assert score == [1.0] if evidence != "code" else score < [1.0]
    assert faults(Contamination, {"tests": {"both": {**tests["both"], "fields": ["task"]}}}) == [
        'tests.both.tokens: no field is called "code"; known: task'
    ]


def test_parts_of_two_kinds_in_an_index(folder: Path) -> None:
    items = [[("a", words(0, 9)), ("b", SOLUTION), ("c", words(9, 20))], [("b", "x = 1")]]
    sets: list[Set] = [("mixed", {"b": "code"}, items), ("plain", "words", items)]
    joint = built(*sets)
    apart = joint.merge([built(each) for each in sets])
    assert joint.fingerprint == apart.fingerprint
    assert [(of.tokens, of.min_weight) for of in joint.sets] == [
        (("words", "code"), (4.0, 8.0)),
        (("words",), (4.0,)),
    ]
    assert [(joint.part(at)[2], joint.is_code(at)) for at in range(4)] == [
        ("a", False),
        ("b", True),
        ("c", False),
        ("b", True),
    ]


def test_prose_and_code_of_which_neither_says_enough(folder: Path) -> None:
    items = [[("a", "sum of odd"), ("b", "return sum(x)")], [("a", "x"), ("b", "y")]]
    index = built(("mixed", {"b": "code"}, items))
    assert [(index.part(at)[2], index.is_code(at)) for at in range(3)] == [
        ("a+b", False),
        ("a", False),
        ("b", False),
    ]
    assert index.sets[0].too_short == ("1",)


@pytest.mark.parametrize(("least", "dropped"), [(0, [1]), (3, [1]), (500, [])])
def test_documents_too_short_to_be_judged(folder: Path, least: int, dropped: list[int]) -> None:
    tests = {"birds": TESTS["birds"]}
    result = run([TEXTS[0], TEXTS[1]], tests=tests, action="drop", min_tokens=least)
    assert result.dropped["id"].to_pylist() == dropped
    assert len(result.matches) == 1
    flagged = run([TEXTS[1]], tests=tests, action="flag", min_tokens=least)
    assert flagged.measures["contamination.test_set"].to_pylist() == ["birds"]
    assert faults(Contamination, {"tests": tests, "action": "cut", "min_tokens": 3}) == [
        "min_tokens: birds is cut, which judges no documents: write `when: {tokens: [3, null]}` "
        "beside the stage"
    ]
