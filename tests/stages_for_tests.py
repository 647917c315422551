"""Toy stages: small enough to work their verdicts out in the head. Not registered.

Put them into the registry for one test with :func:`registered`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pytest

from cleanpipe import registry
from cleanpipe.bounds import Bounds
from cleanpipe.parameters import LocalPath
from cleanpipe.stage import (
    MATCHED_BY,
    Codes,
    Edits,
    Evidence,
    Filter,
    Measures,
    NamedSet,
    Resource,
    Rewriter,
    Rule,
    Stage,
    TestSetInfo,
    cached_property,
)
from cleanpipe.units import Units


@dataclass(frozen=True)
class Count(Filter):
    """How often ``letter`` occurs (``count``), and ``Letter`` (``capitals``)."""

    kind: ClassVar[str] = "count"

    letter: str = "a"
    count: Bounds = Bounds()
    capitals: Bounds = Bounds()

    def rules(self) -> tuple[Rule, ...]:
        rules = (Rule("count", "count", self.count), Rule("capitals", "capitals", self.capitals))
        return tuple(rule for rule in rules if rule.bounds)

    def takes(self) -> tuple[str, ...]:
        return ("count", "capitals")

    def measure(self, units: Units) -> Measures:
        texts = units.strings
        return {
            "count": np.array([text.count(self.letter) for text in texts], np.float64),
            "capitals": np.array([text.count(self.letter.upper()) for text in texts], np.float64),
        }

    def evidence(self, units: Units, codes: Codes, measures: Measures) -> Sequence[Evidence | None]:
        letters = [self.letter if self.rules()[c - 1].name == "count" else None for c in codes]
        return [
            None
            if letter is None or letter not in text
            else Evidence(letter, len(text[: text.index(letter)].encode()), None)
            for letter, text in zip(letters, units.strings, strict=True)
        ]


@dataclass(frozen=True)
class First(Filter):
    """A model: its label is the first character, ``und`` for an empty text."""

    kind: ClassVar[str] = "first"
    uses_model: ClassVar[bool] = True
    labels: ClassVar[tuple[str, ...]] = ("language",)
    seen: ClassVar[list[str]] = []

    keep: tuple[str, ...] = ()
    model: LocalPath | None = None

    def resources(self) -> tuple[Resource, ...]:
        return () if self.model is None else (Resource(self.model),)

    def rules(self) -> tuple[Rule, ...]:
        return (Rule("keep", "language", f"in {', '.join(self.keep)}"),) if self.keep else ()

    def takes(self) -> tuple[str, ...]:
        return ("language", "size")

    def measure(self, units: Units) -> Measures:
        First.seen.extend(units.strings)
        return {
            "language": pa.array([text[:1] or "und" for text in units.strings], pa.large_string()),
            "size": np.array([len(text) or np.nan for text in units.strings], np.float64),
        }

    def failures(self, measures: Measures) -> list[np.ndarray]:
        labels = measures["language"].to_pylist()  # type: ignore[union-attr]
        return [np.array([label not in self.keep for label in labels], np.bool_)] * bool(self.keep)


@dataclass(frozen=True)
class Cut(Rewriter):
    """Removes every ``letter``, or puts ``put`` in its place."""

    kind: ClassVar[str] = "cut"

    letter: str = "x"
    put: str | None = None

    def rules(self) -> tuple[Rule, ...]:
        return (Rule("letter", "cuts", "no letter"),)

    def takes(self) -> tuple[str, ...]:
        return ("cuts",)

    def rewrite(self, units: Units) -> tuple[Edits, Measures]:
        found = [
            (unit, place)
            for unit, text in enumerate(units.strings)
            for place in _places(text.encode(), self.letter.encode())
        ]
        unit = np.array([unit for unit, _ in found], np.int64)
        start = np.array([place for _, place in found], np.int64)
        edits = Edits(
            unit,
            start,
            start + len(self.letter.encode()),
            np.ones(len(found), np.uint16),
            np.full(len(found), np.nan),
            None if self.put is None else [self.put] * len(found),
        )
        cuts = np.array([text.count(self.letter) for text in units.strings], np.float64)
        return edits, {"cuts": cuts}


def _places(text: bytes, wanted: bytes) -> list[int]:
    found, place = [], text.find(wanted)
    while place >= 0:
        found.append(place)
        place = text.find(wanted, place + len(wanted))
    return found


Found: TypeAlias = tuple[str, str, int, int]
"""Set, item, first and last byte of one place where an item's text stands."""


class _OfFinds:
    """The kind that the members of :class:`Finds` bear; no stage."""

    kind: ClassVar[str] = "finds"


@dataclass(frozen=True)
class _Finder(_OfFinds, Stage):
    """Finds the very texts of test items; those of one letter are too short."""

    matched: ClassVar[str | None] = "found"
    action: ClassVar[str]

    sets: Mapping[str, LocalPath]

    @cached_property
    def items(self) -> dict[str, dict[str, str]]:
        return {name: json.loads(Path(path).read_text()) for name, path in self.sets.items()}

    def resources(self) -> tuple[Resource, ...]:
        return tuple(Resource(path) for path in self.sets.values())

    def takes(self) -> tuple[str, ...]:
        return ("found",)

    def found(self, text: str) -> list[Found]:
        """Every place, set by set."""
        return [
            (name, item, start, start + len(wanted.encode()))
            for name, items in self.items.items()
            for item, wanted in items.items()
            if len(wanted) > 1
            for start in _places(text.encode(), wanted.encode())
        ]

    def counted(self, units: Units) -> np.ndarray:
        return np.array([len(self.found(text)) for text in units.strings], np.float64)

    def matches(self, units: Units) -> pa.Table:
        rows = []
        for unit, text in enumerate(units.strings):
            for name, item, start, end in self.found(text):
                match = self.items[name][item]
                parts = "question" if match.endswith("?") else "answer"
                said = (self.action, name, item, parts, 1.0, 0.5, match, start, end)
                rows.append({"unit": unit, **dict(zip(MATCHED_BY.names, said, strict=True))})
        return pa.Table.from_pylist(rows, pa.schema([("unit", pa.int64()), *MATCHED_BY]))

    def test_sets(self) -> Sequence[TestSetInfo]:
        short = {k: tuple(i for i, t in v.items() if len(t) < 2) for k, v in self.items.items()}
        return [
            TestSetInfo(name, self.action, len(items), short[name])
            for name, items in self.items.items()
        ]

    def item_text(self, test_set: str, item: str) -> str | None:
        return self.items[test_set].get(item)


@dataclass(frozen=True)
class FindsDrop(_Finder, Filter):
    """Drops documents with an item."""

    action: ClassVar[str] = "drop"

    def rules(self) -> tuple[Rule, ...]:
        return (Rule("found", "found", Bounds(None, 0)),)

    def measure(self, units: Units) -> Measures:
        return {"found": self.counted(units)}

    def evidence(self, units: Units, codes: Codes, measures: Measures) -> Sequence[Evidence | None]:
        made = []
        for text in units.strings:
            name, item, start, end = self.found(text)[0]
            match = self.items[name][item]
            made.append(Evidence(match, start, end, name, item, 0.93, "answer", "< 0.6"))
        return made


@dataclass(frozen=True)
class FindsFlag(_Finder, Filter):
    """Labels documents with the first set of which they have an item."""

    labels: ClassVar[tuple[str, ...]] = ("test_set",)
    action: ClassVar[str] = "flag"

    def rules(self) -> tuple[Rule, ...]:
        return ()

    def takes(self) -> tuple[str, ...]:
        return ("found", "test_set")

    def measure(self, units: Units) -> Measures:
        found = [self.found(text) for text in units.strings]
        labels = pa.array([each[0][0] if each else None for each in found], pa.large_string())
        return {"found": self.counted(units), "test_set": labels}


@dataclass(frozen=True)
class FindsCut(_Finder, Rewriter):
    """Cuts items out. They must not overlap."""

    action: ClassVar[str] = "cut"

    def rules(self) -> tuple[Rule, ...]:
        return (Rule("found", "found", "no test item"),)

    def rewrite(self, units: Units) -> tuple[Edits, Measures]:
        found = [
            (unit, start, end)
            for unit, text in enumerate(units.strings)
            for _, _, start, end in sorted(self.found(text), key=lambda each: each[2])
        ]
        unit, start, end = np.array(found, np.int64).reshape(-1, 3).T
        size = len(found)
        edits = Edits(unit, start, end, np.ones(size, np.uint16), np.full(size, np.nan))
        return edits, {"found": self.counted(units)}


@dataclass(frozen=True)
class Finds(NamedSet):
    """Test sets, each with what is done where an item of it is found.

    Parameters:
        sets: name -> a file with a JSON object of ids and texts.
        action: for all; or by set. A set with one action has one member, of its own name.
    """

    kind: ClassVar[str] = "finds"
    labels: ClassVar[tuple[str, ...]] = ("test_set",)

    sets: Mapping[str, LocalPath]
    action: Literal["drop", "cut", "flag"] | Mapping[str, str]

    def expand(self) -> Sequence[tuple[str, Stage]]:
        if isinstance(self.action, str):
            actions: dict[str, str] = dict.fromkeys(self.sets, self.action)
        else:
            actions = dict(self.action)
        members: list[type[_Finder]] = [FindsFlag, FindsCut, FindsDrop]
        used = [member for member in members if member.action in actions.values()]
        return [
            (
                member.action if len(used) > 1 else "",
                member({k: v for k, v in self.sets.items() if actions[k] == member.action}),
            )
            for member in used
        ]


def registered(monkeypatch: pytest.MonkeyPatch, *more: type[Stage]) -> None:
    """Add the toy stages, and others, to the registry for one test."""
    toys: list[type[Stage]] = [Count, First, Cut, *more]
    found = MappingProxyType({**registry.stages(), **{cls.kind: cls for cls in toys}})
    monkeypatch.setattr(registry, "stages", lambda: found)
