"""From maps to frozen dataclasses: types, aliases, and sentences for what is wrong."""

# ruff: noqa: E501 (rows of tables)
from __future__ import annotations

import os
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest

from cleanpipe.bounds import Bounds
from cleanpipe.parameters import LocalPath, LocalPaths, build, nearest, shown


@dataclass(frozen=True)
class Toy:
    aliases: ClassVar[Mapping[str, str]] = {"words": "tokens", "except": "exempt"}

    name: str
    tokens: Bounds = Bounds()
    count: int = 1
    share: float = 0.5
    on: bool = False
    mode: Literal["a", "b"] = "a"
    keep: tuple[str, ...] | Mapping[str, float] = ()
    model: LocalPath | None = None
    lists: LocalPaths = ()
    exempt: str | None = None
    table: Mapping[str, int] = field(default_factory=dict)

    def check(self) -> list[tuple[str, str]]:
        if self.count == 13:
            return [("count", "unlucky"), ("", "all of it"), ("share", "not given")]
        return []


def faults(**values: Any) -> list[str]:
    made, found = build(Toy, {"name": "x", **values})
    assert (made is None) == bool(found)
    return [f"{'.'.join(map(str, place))}: {message}" for place, message in found]


@pytest.mark.parametrize(
    ("values", "attribute", "value"),
    [
        ({}, "tokens", Bounds()),
        ({"tokens": (1, None)}, "tokens", Bounds(1.0)),
        ({"words": {"above": 3}}, "tokens", Bounds(3.0, low_strict=True)),
        ({"share": 1}, "share", 1.0),
        ({"keep": ("en", "no")}, "keep", ("en", "no")),
        ({"keep": {"en": 1, "zh": 0.5}}, "keep", {"en": 1.0, "zh": 0.5}),
        ({"lists": "a.txt"}, "lists", ("a.txt",)),
        ({"lists": ("a.txt", "b/*.txt")}, "lists", ("a.txt", "b/*.txt")),
        ({"exempt": None}, "exempt", None),
        ({"except": "x"}, "exempt", "x"),
    ],
)
def test_values(values: Mapping[str, Any], attribute: str, value: Any) -> None:
    made, found = build(Toy, {"name": "x", **values}, "")
    assert not found and made is not None
    got = getattr(made, attribute)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"name": 3}, ["name: expected a text, got 3"]),
        ({"name": None}, ["name: expected a text, got null"]),
        ({"count": 1.5}, ["count: expected a whole number, got 1.5"]),
        ({"count": "3"}, ['count: expected a whole number, got "3"']),
        ({"count": True}, ["count: expected a whole number, got true"]),
        ({"share": "abc"}, ['share: expected a number, got "abc"']),
        ({"share": (1, 2)}, ["share: expected a number, got [1, 2]"]),
        ({"share": {"a": (1,)}}, ["share: expected a number, got {a: [1]}"]),
        ({"on": "no"}, ['on: expected true or false, got "no"']),
        ({"mode": "c"}, ["mode: expected 'a' or 'b', got \"c\""]),
        (
            {"tokens": 3},
            [
                "tokens: expected [low, high] with null for an open end, or a map of min, "
                "max, above, below, got 3"
            ],
        ),
        ({"words": (3, 2)}, ["words: expected low <= high, got [3, 2]: nothing passes"]),
        ({"keep": "en"}, ['keep: expected a list or a map, got "en"']),
        ({"keep": ("en", 3)}, ["keep.1: expected a text, got 3"]),
        ({"keep": {"en": "high"}}, ['keep.en: expected a number, got "high"']),
        ({"model": 3}, ["model: expected a text, got 3"]),
        ({"model": ""}, ['model: expected a text that is not empty, got ""']),
        ({"lists": 3}, ["lists: expected a list, got 3"]),
        ({"lists": ("a", None)}, ["lists.1: expected a text, got null"]),
        ({"table": {"a": 1, "b": "2"}}, ['table.b: expected a whole number, got "2"']),
        ({"tokens": (1, 2), "words": (1, 2)}, ['words: says the same as "tokens": keep one']),
        ({"count": 13}, ["count: unlucky", ": all of it", ": not given"]),
        (
            {"count": "x", "share": "y", "on": 1},
            [
                'count: expected a whole number, got "x"',
                'share: expected a number, got "y"',
                "on: expected true or false, got 1",
            ],
        ),
    ],
)
def test_faults(values: Mapping[str, Any], expected: list[str]) -> None:
    assert faults(**values) == expected


def test_unknown_and_missing() -> None:
    made, found = build(Toy, {"nmae": "x"})
    assert made is None
    assert [place for place, _ in found] == [("nmae",), ()]
    assert 'unknown parameter; did you mean "name"? known: ' in found[0][1]
    assert "words" in found[0][1]
    assert found[1][1] == 'expected the parameter "name", which is missing'


def test_nearest() -> None:
    assert nearest("lenght", ["symbols", "length"]) == (
        'did you mean "length"? known: length, symbols'
    )
    assert nearest("qqq", ["b", "a"]) == "known: a, b"


def test_paths_are_opened_beside_the_file_and_shown_as_written(tmp_path: Path) -> None:
    made, _ = build(Toy, {"name": "x", "model": "../m/en.bin", "lists": "~/l.txt"}, str(tmp_path))
    assert made is not None and made.model is not None
    assert made.model == os.path.normpath(tmp_path / "../m/en.bin")
    assert made.model.written == "../m/en.bin"
    assert shown(made)["model"] == "../m/en.bin"
    assert made.lists[0] == os.path.expanduser("~/l.txt")
    assert shown(made)["lists"] == ["~/l.txt"]
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert again.model.written == "../m/en.bin"


@pytest.mark.parametrize(
    ("written", "location", "expected"),
    [
        ("lists/*.txt", "/home/a/lists/x.txt", "lists/x.txt"),
        ("../*.txt", "/home/x.txt", "../x.txt"),
        ("/lists/*.txt", "/lists/x.txt", "/lists/x.txt"),
    ],
)
def test_what_a_pattern_finds_is_written_like_it(
    written: str, location: str, expected: str
) -> None:
    found = LocalPath("ignored", written, "/home/a").found(location)
    assert (str(found), found.written) == (location, expected)


def test_shown_is_plain() -> None:
    made, _ = build(Toy, {"name": "x", "tokens": (50, None), "keep": {"en": 0.5}})
    assert shown(made) == {
        "name": "x",
        "tokens": [50, None],
        "count": 1,
        "share": 0.5,
        "on": False,
        "mode": "a",
        "keep": {"en": 0.5},
        "model": None,
        "lists": [],
        "except": None,  # as the file calls it; words is but another spelling of tokens
        "table": {},
    }
