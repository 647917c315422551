"""``c4``: which lines of a page stay, and which pages (Raffel et al. 2020, section 2.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from cleanpipe import Pipeline
from cleanpipe.filters.c4 import C4
from cleanpipe.units import Units

from .sets import outcomes
from .table import TABLES, faults, made

GOOD = "We walked down to the river. It was a good day!"
CHINESE = "今天天气很好。我们去公园散步。"
CHINESE_LINES = {"whitespace_words": None, "tokens": [5, None]}
DATATROVE, OLDER = {"variant": "datatrove"}, {"variant": "older"}
ANY: Mapping[str, Any] = {"sentences": None}
"""Lines alone."""

LINES: Sequence[tuple[str, Mapping[str, Any], str]] = [
    ("", ANY, ""),
    ("word", ANY, ""),
    ("word.", ANY, ""),
    ("one two three four five.", ANY, "one two three four five."),
    ("one two three four.", ANY, ""),
    ("one two three.", {**ANY, **OLDER}, "one two three."),
    ("one two.", {**ANY, **OLDER}, ""),
    ("one two three.", {**ANY, **DATATROVE}, "one two three."),
    ("one two.", {**ANY, "whitespace_words": None}, "one two."),
    ("one two three four five", ANY, ""),
    ("one two three four five", {**ANY, "terminal_punctuation_line_share": None},
     "one two three four five"),
    ("one two three four five?", ANY, "one two three four five?"),
    ('"one two three four five"', ANY, '"one two three four five"'),
    ("»one two three four five«", ANY, ""),
    ("one two three four five:", ANY, ""),
    ("one two three four five...", ANY, "one two three four five..."),
    ("one two three four five...", {**ANY, **DATATROVE}, ""),
    ("one two three four five.  \r\nno\r\n", ANY, "one two three four five."),
    (f"Menu\n{GOOD}\nHome | About\n{GOOD}\n", ANY, f"{GOOD}\n{GOOD}\n"),
    (f"{GOOD}\nPlease do turn on JavaScript now.", ANY, GOOD),
    (f"{GOOD}\nPlease do turn on JavaScript now.", {**ANY, "javascript": None},
     f"{GOOD}\nPlease do turn on JavaScript now."),
    ("It is written in javascripts of old.", ANY, ""),
    ("It is written in java scripts of old.", ANY, "It is written in java scripts of old."),
    ("We ask you to read our Terms of Use.", ANY, ""),
    ("This good old site USES COOKIES here.", ANY, ""),
    ("We do make use of cookies here.", ANY, ""),
    ("We all use cookies around here.", ANY, ""),
    ("Read about our cookie policy and privacy.", ANY, ""),
    ("Read about our privacy policy and more.", ANY, ""),
    ("We all use cookies around here.", {**ANY, **OLDER}, "We all use cookies around here."),
    ("We all use cookies around here.", {**ANY, **DATATROVE}, ""),
    ("We all use cookies around here.", {**ANY, "policies": None},
     "We all use cookies around here."),
    ("We all used cookies around here.", ANY, "We all used cookies around here."),
    ("A town[12] in the west[edit] it is.[citation needed]", ANY, "A town in the west it is."),
    ("A town[] in the west it is. [3]", ANY, "A town in the west it is. "),
    ("A town [in] the [west] it [1a].", ANY, "A town [in] the [west] it [1a]."),
    ("A town[12] in the west it is.", {**ANY, **OLDER}, "A town[12] in the west it is."),
    ("A town[12] in the west it is.", {**ANY, "citations": None}, "A town[12] in the west it is."),
    ("A town[12] in the west it is.", {**ANY, **DATATROVE}, "A town in the west it is."),
    ("好[1]。" + CHINESE, {**ANY, **CHINESE_LINES}, "好。" + CHINESE),
    (f"首页\n{CHINESE}\n关于我们", {**ANY, **CHINESE_LINES}, CHINESE),
    ("天地玄黄。\n天地玄黄宇。", {**ANY, **CHINESE_LINES}, "天地玄黄宇。"),
    (CHINESE, ANY, ""),
    ("“今天天气很好”", {**ANY, **CHINESE_LINES}, "“今天天气很好”"),
    ("请打开JavaScript再看。", {**ANY, **CHINESE_LINES}, ""),
    ("هل هذا سطر طويل بما يكفي؟", ANY, "هل هذا سطر طويل بما يكفي؟"),
    ("🎉 🎉 🎉 🎉 🎉", ANY, ""),
    ("🎉 🎉 🎉 🎉 🎉.", ANY, "🎉 🎉 🎉 🎉 🎉."),
    ("a" * 2**20 + ".", ANY, ""),
    ("a " * 2**19 + ".", ANY, "a " * 2**19 + "."),
    ("[1]" * 9999, ANY, ""),
]  # fmt: skip

PAGES: Sequence[tuple[str, Mapping[str, Any], list[str]]] = [
    ("", {}, ["sentences"]),
    ("🎉", {}, ["sentences"]),
    (GOOD, {}, ["sentences"]),
    (f"{GOOD} And it was over.", {}, []),
    (f"{GOOD}\r\nAnd then it was over.\r\n", {}, []),
    (GOOD, {"sentences": None}, []),
    (f"{GOOD} {GOOD}", OLDER, ["sentences"]),
    (f"{GOOD} {GOOD} And it was over.", OLDER, []),
    (f"{GOOD} {GOOD}", DATATROVE, ["sentences"]),
    (f"{GOOD} {GOOD}", {**OLDER, "sentences": [4, None]}, []),
    # Lines that went count for nothing.
    (f"{GOOD}\nBut no. Not. Here.", {}, ["sentences"]),
    (f"{GOOD} {GOOD} Lorem  ipsum.", {}, []),
    (f"{GOOD} {GOOD} LOREM IPSUM dolor.", {}, ["lorem_ipsum"]),
    (f"{GOOD} {GOOD}\nlorem ipsum", {}, []),
    (f"{GOOD} {GOOD} Lorem ipsum.", {"lorem_ipsum": None}, []),
    (f"{GOOD} {GOOD} Lorem ipsum.", {"lorem_ipsum": [None, 1]}, []),
    (f"{GOOD} {GOOD} lorem ipsum lorem ipsum.", {"lorem_ipsum": [None, 1]}, ["lorem_ipsum"]),
    (f"{GOOD} {GOOD} It has a {{.", {}, ["curly_brackets"]),
    (f"{GOOD} {GOOD} It has a }}.", {}, ["curly_brackets"]),
    (f"{GOOD} {GOOD}\nvar f = {{a: 1}}", {}, []),
    (f"{GOOD} {GOOD} It has a {{.", {"curly_brackets": None}, []),
    ("{Lorem ipsum dolor sit amet.", {}, ["sentences", "lorem_ipsum", "curly_brackets"]),
    (CHINESE * 2, CHINESE_LINES, []),
    (CHINESE, CHINESE_LINES, ["sentences"]),
    (CHINESE * 2 + "这里有｛括号。", CHINESE_LINES, []),
    (CHINESE * 2 + "这里有{括号}。", CHINESE_LINES, ["curly_brackets"]),
    ("זה משפט ארוך מספיק. וגם זה משפט ארוך. וזה הסוף.", {}, []),
]

TABLES.setdefault("c4", []).extend([{}, OLDER, {**DATATROVE, **CHINESE_LINES}])


@pytest.mark.parametrize(("text", "parameters", "left"), LINES)
def test_what_is_left_of_a_page(text: str, parameters: Mapping[str, Any], left: str) -> None:
    found = outcomes(made(C4, parameters), ["no", text, GOOD])
    assert [text for text, _ in found] == ["", left, GOOD]


@pytest.mark.parametrize(("text", "parameters", "failed"), PAGES)
def test_what_a_page_fails(text: str, parameters: Mapping[str, Any], failed: list[str]) -> None:
    long = f"{GOOD} {GOOD} {GOOD}"
    quiet = {**parameters, "whitespace_words": None} if "tokens" in parameters else parameters
    found = outcomes(made(C4, quiet), [long, text, long])
    assert [names for _, names in found] == [[], failed, []]


def test_what_is_on_by_default_and_can_be_turned_off() -> None:
    names = ["citations", "lines", "sentences", "lorem_ipsum", "curly_brackets"]
    assert [name for name, _ in made(C4, {}).expand()] == names
    for name in names:
        if name != "lines":
            left = [member for member, _ in made(C4, {name: None}).expand()]
            assert left == [member for member in names if member != name]
    assert [name for name, _ in made(C4, OLDER).expand()] == names[1:]
    assert [name for name, _ in made(C4, {**OLDER, "citations": True}).expand()] == names
    everything = {field.name: None for field in fields(C4)} | {"min_tokens": 0, "variant": "paper"}
    assert made(C4, everything).expand() == []
    lines = dict(made(C4, DATATROVE).expand())["lines"]
    assert [name for name, _ in lines.failing] == [
        "terminal_punctuation_line_share",
        "ellipsis_line_share",
        "whitespace_words",
        "javascript",
        "policies",
    ]


def test_bad_words(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("damn\n坏话\n", encoding="utf-8")
    stage = made(C4, {"bad_words": str(tmp_path / "words.txt"), **CHINESE_LINES})
    names = [name for name, _ in stage.expand()]
    assert names == [
        "citations",
        "lines",
        "sentences",
        "bad_words",
        "lorem_ipsum",
        "curly_brackets",
    ]
    long = f"{GOOD} {GOOD}"
    texts = [
        long,
        f"{long} Damn it.",
        f"{long} A damned one.",
        f"{long}\ndamn",
        CHINESE * 2 + "坏话。",
    ]
    assert [failed for _, failed in outcomes(stage, texts)] == [
        [],
        ["bad_words"],
        [],
        [],
        ["bad_words"],
    ]
    missing = str(tmp_path / "none.txt")
    assert faults(C4, {"bad_words": missing}) == [f"bad_words: no file matches {missing}"]


def test_min_tokens_is_refused() -> None:
    (fault,) = faults(C4, {"min_tokens": 5})
    assert fault.startswith("min_tokens: c4 judges a page by the lines that it leaves")
    assert faults(C4, {"min_tokens": 0}) == []


def test_the_culprit_is_shown() -> None:
    stages = dict(made(C4, {"javascript": {"min": 1}}).expand())
    lorem: Any = stages["lorem_ipsum"]
    text = "Ähm: LOREM Ipsum"
    units = Units(pa.array([text], pa.large_string()))
    measures = lorem.measure(units)
    (evidence,) = lorem.evidence(units, lorem.judge(measures), measures)
    assert evidence.match == "LOREM Ipsum"
    assert text.encode()[evidence.start : evidence.end].decode() == evidence.match


def test_in_a_run() -> None:
    texts = [f"{GOOD} {GOOD}\nMenu", "Menu\nHome", f"{GOOD} {GOOD} lorem ipsum."]
    result = Pipeline.from_dict({"stages": [{"c4": {}}]}).run(texts)
    assert result.kept["text"].to_pylist() == [f"{GOOD} {GOOD}"]
    dropped = result.dropped.to_pylist()
    assert [(row["stage"], row["rule"], row["match"]) for row in dropped] == [
        ("c4.lines", "empty", None),
        ("c4.lorem_ipsum", "hits", "lorem ipsum"),
    ]
