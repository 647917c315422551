"""Toy stages: small enough to work their verdicts out in the head. Not registered.

Put them into the registry for one test with :func:`registered`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

from cleanpipe import registry
from cleanpipe.bounds import Bounds
from cleanpipe.parameters import LocalPath
from cleanpipe.stage import (
    Codes,
    Edits,
    Evidence,
    Filter,
    Measures,
    Resource,
    Rewriter,
    Rule,
    Stage,
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


def registered(monkeypatch: pytest.MonkeyPatch, *more: type[Stage]) -> None:
    """Add the toy stages, and others, to the registry for one test."""
    toys: list[type[Stage]] = [Count, First, Cut, *more]
    found = MappingProxyType({**registry.stages(), **{cls.kind: cls for cls in toys}})
    monkeypatch.setattr(registry, "stages", lambda: found)
