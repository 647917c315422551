"""The items of the test sets in CLEANPIPE_SHARED, each file in the shape it has."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_QUERY = re.compile(r"Question: (.*?)\n((?: \w\. [^\n]*\n)+)Answer:", re.S)

Row = dict[str, Any]


@dataclass(frozen=True)
class Item:
    """One item of a test set.

    Attributes:
        test_set, test_item: its set's name; its id, else its index.
        language: `en`, `zh` or `code`.
        text: what its file holds of it: question, choices and answer, as they stand there.
        question: without the choices.
        answer: the right one.
        choices: their texts, without letters; none where it has no choices.
    """

    test_set: str
    test_item: str
    language: str
    text: str
    question: str
    answer: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class TestSet:
    """A file of items.

    Attributes:
        name: of the set.
        file: in the folder of the sets.
        fields: what a judge is told to read.
        tokens: how its parts are read, as `cleanpipe.contamination` takes it.
        read: (question, answer, choices) of a row.
        id: the field that is the item's id, if any.
        language: `en`, `zh` or `code`.
    """

    name: str
    file: str
    fields: tuple[str, ...]
    read: Callable[[Row], tuple[str, str, tuple[str, ...]]]
    language: str = "en"
    id: str | None = None
    tokens: str | Mapping[str, str] = "words"


def _pair(question: str, answer: str) -> Callable[[Row], tuple[str, str, tuple[str, ...]]]:
    return lambda row: (row[question], row[answer], ())


def _query(row: Row) -> tuple[str, str, tuple[str, ...]]:
    found = _QUERY.fullmatch(row["query"])
    if not found:
        raise ValueError(f"not a question with choices: {row['query']!r}")
    choices = tuple(line.strip()[3:] for line in found[2].splitlines())
    return found[1], choices[row["gold"]], choices


def _message(row: Row) -> tuple[str, str, tuple[str, ...]]:
    return row["messages"][0]["content"], row["answer"], ()


SETS = (
    TestSet(
        "humaneval",
        "HumanEval.jsonl.gz",
        ("prompt", "canonical_solution"),
        _pair("prompt", "canonical_solution"),
        "code",
        tokens="code",
    ),
    TestSet(
        "mbpp",
        "mbpp.jsonl",
        ("text", "code"),
        _pair("text", "code"),
        "code",
        tokens={"code": "code"},  # what is asked is prose
    ),
    TestSet("gsm8k", "gsm8k_test.jsonl", ("question", "answer"), _pair("question", "answer")),
    TestSet("arc_challenge", "arc_challenge_test.jsonl.gz", ("query",), _query, id="id"),
    TestSet("arc_easy", "arc_easy_test.jsonl.gz", ("query",), _query, id="id"),
    TestSet("openbookqa", "openbookqa_test.jsonl.gz", ("query",), _query, id="id"),
    TestSet(
        "truthfulqa",
        "truthfulqa_en.json",
        ("question", "best_answer"),
        _pair("question", "best_answer"),
        id="id",
    ),
    TestSet("mgsm_zh", "mgsm_zh.jsonl", ("messages[0].content", "answer"), _message, "zh", id="id"),
    TestSet("cmath", "cmath_test.jsonl", ("question", "golden"), _pair("question", "golden"), "zh"),
)


def read_items(folder: Path, of: TestSet) -> list[Item]:
    """The items of a set, in the order of its file."""
    path = folder / of.file
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = json.loads(text) if ".json" in path.suffixes else map(json.loads, text.splitlines())
    items = []
    for index, row in enumerate(rows):
        question, answer, choices = of.read(row)
        whole = row["query"] if choices else _joined(question, answer)
        name = str(row[of.id] if of.id else index)
        items.append(Item(of.name, name, of.language, whole, question, answer, choices))
    return items


def _joined(question: str, answer: str) -> str:
    return question if not answer else f"{question.rstrip(chr(10))}\n{answer}"
