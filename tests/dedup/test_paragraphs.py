"""``paragraphs``: what counts as the same, which occurrence stays, what is said of the others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cleanpipe import ConfigError, Pipeline, Result
from cleanpipe import run as engine
from cleanpipe.barrier import repeats
from cleanpipe.dedup.paragraphs import Paragraphs
from cleanpipe.stage import Repeats
from cleanpipe.text import removal_ranges, segments
from cleanpipe.units import Units

from ..jobs import jsonl, pipeline, rows, run
from ..native import reference_segments, reference_tokens


def cleaned(texts: Sequence[str], *stages: Any) -> Result:
    return Pipeline.from_dict({"stages": list(stages)}).run(list(texts))


def left(texts: Sequence[str], **parameters: Any) -> list[str | None]:
    """What is left of each text; None where it is dropped."""
    kept = {
        row["id"]: row["text"]
        for row in cleaned(texts, {"paragraphs": parameters}).kept.to_pylist()
    }
    return [kept.get(number) for number in range(len(texts))]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("All rights reserved.", "all rights RESERVED", True),
        ("All rights reserved.", "All  rights, reserved!", True),
        ("All rights reserved.", "All right reserved.", False),
        ("All rights reserved.", "Allrights reserved.", False),
        ("All rights reserved.", "Reserved all rights.", False),
        ("All rights reserved.", "All rights reserved. All rights reserved.", False),
        ("Page 12 of 90", "page 45 of 11", True),
        ("Page 12 of 90", "page 4 of 11", False),
        ("12", "９９", True),
        ("Straße", "STRASSE", False),
        ("Café", "Cafe", False),
        ("版权所有，翻印必究。", "版权所有 翻印必究", True),
        ("版权所有，翻印必究。", "版权所有，翻印不究。", False),
        ("第12页", "第34页", True),
        ("第12页", "第三页", False),
        ("...", "...", False),
        ("***", "---", False),
        ("ไทย", "ไทย!", True),
    ],
)  # fmt: skip
def test_what_is_the_same(one: str, other: str, same: bool) -> None:
    assert left([one, other]) == [one, None if same else other]
    assert left([other, one]) == [other, None if same else one]


@pytest.mark.parametrize(
    ("parameters", "texts", "expected"),
    [
        ({}, ["a b", "c\n\na b\n\nd"], ["a b", "c\n\nd"]),
        ({}, ["a b\n\nc\n\nA, b"], ["a b\n\nc"]),
        ({}, ["x\n\na\nb\n\ny", "a\nb\n\nz", "a\n\nb"], ["x\n\na\nb\n\ny", "z", "a\n\nb"]),
        ({}, ["a\nb\nb", "b\nc"], ["a\nb", "c"]),  # no blank line: a paragraph is a line
        ({"unit": "line"}, ["x\n\na\nb\n\ny", "b\n\nz", "a\n"], ["x\n\na\nb\n\ny", "z", None]),
        ({"unit": "line"}, ["if x:\n}", "y\n}\n}"], ["if x:\n}", "y\n}\n}"]),
        ({"min_tokens": 2}, ["Yes.\n\nNot now.", "Yes.\n\nnot now"], ["Yes.\n\nNot now.", "Yes."]),
        ({"min_tokens": 4}, ["关于我们\n\n首页", "首页\n\n关于我们"], ["关于我们\n\n首页", "首页"]),
        ({}, ["", "  ", "", "。", "。"], ["", "  ", "", "。", "。"]),
    ],
)  # fmt: skip
def test_what_is_left(
    parameters: dict[str, Any], texts: list[str], expected: list[str | None]
) -> None:
    assert left(texts, **parameters) == expected


def test_what_is_said() -> None:
    texts = ["Menu\n\nFirst.\n\nMenu", "MENU!\n\nSecond.", "menu"]
    result = cleaned(texts, "paragraphs")
    assert result.measures["paragraphs.removed_units"].to_pylist() == [1, 1, 1]
    shares = result.measures["paragraphs.removed_share"].to_pylist()
    assert shares == [6 / 18, 7 / 14, 1.0]
    (dropped,) = result.dropped.to_pylist()
    assert (dropped["id"], dropped["stage"], dropped["rule"]) == (2, "paragraphs", "empty")
    counts = result.summary["stages"][0]
    assert [counts[key] for key in ("in", "judged", "dropped", "units_removed")] == [3, 3, 1, 3]
    made = result.explain(1)
    assert made.agrees
    (edit,) = made.edits
    shown = {key: edit[key] for key in ("stage", "rule", "measure", "value", "bound", "text")}
    assert shown == {
        "stage": "paragraphs",
        "rule": "repeated",
        "measure": "occurrence",
        "value": 3.0,
        "bound": "<= 1",
        "text": "MENU!\n\n",
    }
    assert (edit["start"], edit["end"]) == (0, 7)
    assert edit["match"] is None and edit["replacement"] is None


def test_the_first_in_source_order_stays(tmp_path: Path) -> None:
    for name in ("za", "zb", "aa"):
        jsonl(tmp_path / f"{name}.jsonl", [{"id": name, "text": f"the same\n\nof {name}"}] * 2)
    sources = {"z": {"paths": "z*.jsonl"}, "a": {"paths": "a*.jsonl"}}
    run(pipeline(tmp_path, sources, ["paragraphs"]))
    kept = rows(tmp_path / "out", "kept")
    assert [(row["id"], row["text"]) for row in kept] == [
        ("za", "the same\n\nof za"),
        ("zb", "of zb"),
        ("aa", "of aa"),
    ]


def test_outside_when_nothing_goes_and_nothing_counts() -> None:
    stage = {"paragraphs": {}, "when": {"tokens": [2, None]}}
    texts = ["same", "same\n\nx", "same\n\ny", "same"]
    result = cleaned(texts, stage)
    assert result.kept["text"].to_pylist() == ["same", "same\n\nx", "y", "same"]
    assert result.measures["paragraphs.removed_units"].to_pylist() == [None, 0, 1, None]


def test_the_dropped_count_for_nothing() -> None:
    stages = [{"length": {"tokens": [2, None]}}, "paragraphs"]
    assert cleaned(["same", "same\n\nx", "same\n\ny"], *stages).kept["text"].to_pylist() == [
        "same\n\nx",
        "y",
    ]


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        (["exact", "paragraphs"], '"paragraphs" comes after "exact"'),
        ([{"paragraphs": {"min_tokens": 0}}], "expected at least 1, got 0"),
        ([{"paragraphs": {"unit": "sentence"}}], "unit"),
        (
            [{"paragraphs": {"per": "source", "cases": {"a": {}}, "else": "keep"}}],
            "looks at all documents: no per",
        ),
    ],
)
def test_refused(stages: list[Any], message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        Pipeline.from_dict({"stages": stages}).run(["a"])


# The whole of it against a slow reference


def key(unit: str) -> str:
    digits = re.sub(r"\d", "0", unit)
    return " ".join(token.folded for token in reference_tokens.tokens(digits))


def split(text: str, unit: str) -> list[str]:
    return {"paragraph": reference_segments.paragraphs, "line": reference_segments.lines}[unit](
        text
    )


def slow(texts: Sequence[str], unit: Literal["paragraph", "line"], least: int) -> list[str]:
    seen = set()
    found = []
    for text in texts:
        parts = segments(pa.array([text], pa.large_string()), unit)
        units = split(text, unit)
        assert units == parts.texts.to_pylist()
        gone = []
        for each in map(key, units):
            gone.append(each in seen and len(each.split()) >= least)
            if each:
                seen.add(each)
        data = text.encode()
        starts, ends = removal_ranges(parts, np.array(gone, np.bool_))
        for start, end in reversed(list(zip(starts.tolist(), ends.tolist(), strict=True))):
            data = data[:start] + data[end:]
        found.append(data.decode())
    return found


UNIT = st.sampled_from(
    ["a", "A.", "b 1", "B, 2", "长城", "长 城！", "--", "c d\ne", "longer than most"]
)
DOCUMENT = st.lists(st.tuples(UNIT, st.sampled_from(["\n", "\n\n", " \n\n\n"])), max_size=5).map(
    lambda pairs: "".join(unit + gap for unit, gap in pairs)
)


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    texts=st.lists(DOCUMENT, min_size=1, max_size=8),
    unit=st.sampled_from(["paragraph", "line"]),
    least=st.integers(1, 3),
    shard=st.sampled_from(["60", "200", "1MB"]),
    batch=st.sampled_from(["1", "20", "1MB"]),
    partitions=st.integers(1, 3),
    rows_together=st.integers(1, 6),
)
def test_against_a_slow_reference(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[str],
    unit: Literal["paragraph", "line"],
    least: int,
    shard: str,
    batch: str,
    partitions: int,
    rows_together: int,
) -> None:
    folder = tmp_path_factory.mktemp("paragraphs")
    jsonl(folder / "in.jsonl", [{"id": str(n), "text": text} for n, text in enumerate(texts)])
    stages = [{"paragraphs": {"unit": unit, "min_tokens": least}}]
    path = pipeline(folder, {"s": {"paths": "in.jsonl"}}, stages, guards="off")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "partitions", lambda *_: partitions)
        for name in ("RUN_ROWS", "WINDOW_ROWS"):
            patch.setattr(repeats, name, rows_together)
        run(path, folder / "out", f"shard_bytes={shard}", f"run.batch_bytes={batch}")
    kept = {int(row["id"]): row["text"] for row in rows(folder / "out", "kept")}
    expected = slow(texts, unit, least)
    assert [kept.get(number, "") for number in range(len(texts))] == expected
    # An empty text is a document; one that was emptied is dropped.
    emptied = {n for n, text in enumerate(texts) if text and not expected[n]}
    assert {int(row["id"]) for row in rows(folder / "out", "dropped")} == emptied
    number = Counter(each for text in texts for each in map(key, split(text, unit)) if each)
    edits = rows(folder / "out", "edits")
    assert len(edits) == sum(
        count - 1 for each, count in number.items() if len(each.split()) >= least
    )
    assert sum(edit["value"] for edit in edits) == sum(
        count * (count + 1) // 2 - 1 for each, count in number.items() if len(each.split()) >= least
    )


@given(st.lists(st.lists(st.integers(0, 5), max_size=20), max_size=6))
def test_occurrences(parts: list[list[int]]) -> None:
    counts, seen = repeats.Occurrences(), Counter[int]()
    for part in parts:
        expected = []
        for value in part:
            seen[value] += 1
            expected.append(seen[value])
        assert counts.add(np.array(part, np.uint64)).tolist() == expected


def test_the_input_of_rewrite_is_what_was_sketched() -> None:
    """In a slice, and in documents that are not all told of anything."""
    text = pa.array(["before", "a\n\nb", "", "b\n\n长城\n\na"], pa.large_string()).slice(1)
    stage = Paragraphs()
    sketch = stage.sketch(Units(text)).to_pylist()
    assert [(row["unit"], row["start"]) for row in sketch] == [
        (0, 0),
        (0, 3),
        (2, 0),
        (2, 3),
        (2, 11),
    ]
    told = Repeats(np.array([2, 2]), np.array([0, 11]), np.array([2, 7]))
    edits, measures = stage.rewrite(Units(text), told)
    assert list(zip(edits.unit, edits.start, edits.end, edits.value, strict=True)) == [
        (2, 0, 3, 2.0),
        (2, 9, 12, 7.0),
    ]
    assert measures["removed_units"].tolist() == [0, 0, 2]
    some = told.of(np.array([1, 2]))
    assert (some.unit.tolist(), some.start.tolist(), some.occurrence.tolist()) == (
        [1, 1],
        [0, 11],
        [2, 7],
    )
    assert not len(told.of(np.array([0, 1])).unit)
