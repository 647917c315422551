"""Conditions: which documents a stage is for, by what is already known of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe.bounds import Bounds, Flags, Numbers
from cleanpipe.patterns import compiled

Scalar = str | int | float | bool | None
Value: TypeAlias = Numbers | pa.Array


@dataclass(frozen=True)
class Equals:
    """The value is one of these."""

    values: tuple[Scalar, ...]

    def holds(self, value: Value) -> Flags:
        held = np.zeros(len(value), dtype=np.bool_)
        for wanted in self.values:
            held |= _equal(value, wanted)
        return held

    def to_json(self) -> object:
        return self.values[0] if len(self.values) == 1 else list(self.values)


@dataclass(frozen=True)
class Within:
    """The value is a number inside the bounds; an unknown one is not."""

    bounds: Bounds

    def holds(self, value: Value) -> Flags:
        numbers = _numbers(value)
        return ~self.bounds.fails(numbers) & ~np.isnan(numbers)

    def to_json(self) -> object:
        return self.bounds.to_json()


@dataclass(frozen=True)
class Matches:
    """The value is a text in which this RE2 pattern is found."""

    pattern: str

    @cached_property
    def _search(self) -> Callable[[str], object]:
        search: Callable[[str], object] = compiled(self.pattern).search
        return search

    def __getstate__(self) -> dict[str, str]:
        return {"pattern": self.pattern}

    def __setstate__(self, state: dict[str, str]) -> None:
        self.__dict__.update(state)

    def holds(self, value: Value) -> Flags:
        texts = [] if isinstance(value, np.ndarray) else value.to_pylist()
        found = [isinstance(text, str) and self._search(text) is not None for text in texts]
        return np.array(found, dtype=np.bool_) if found else np.zeros(len(value), dtype=np.bool_)

    def to_json(self) -> object:
        return {"matches": self.pattern}


@dataclass(frozen=True)
class Not:
    """The test does not hold; an unknown value passes."""

    test: Test

    def holds(self, value: Value) -> Flags:
        return ~self.test.holds(value)

    def to_json(self) -> object:
        return {"not": self.test.to_json()}


Test = Equals | Within | Matches | Not


@dataclass(frozen=True)
class When:
    """All of these tests hold.

    Attributes:
        tests: (name, test) pairs; a name is ``source``, a label, a measure, or
            ``column.NAME`` of the input.
    """

    tests: tuple[tuple[str, Test], ...]

    def holds(self, size: int, value: Callable[[str], Value]) -> Flags:
        """Flags, shape (size,), given how to look a name's values up."""
        held = np.ones(size, dtype=np.bool_)
        for name, test in self.tests:
            held &= test.holds(value(name))
        return held

    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.tests)

    def to_json(self) -> dict[str, object]:
        return {name: test.to_json() for name, test in self.tests}


def parse_when(value: object) -> When:
    """Read the grammar of ``when``.

    Errors: ValueError with what was expected and found.
    """
    if not isinstance(value, Mapping) or not value:
        raise ValueError(f"expected a map such as {{language: en}}, got {value}")
    return When(tuple((str(name), parse_test(test)) for name, test in value.items()))


def parse_test(value: Any) -> Test:
    """One test: a value, a list of values, bounds, ``{not: test}`` or ``{matches: pattern}``."""
    if isinstance(value, Mapping):
        if value.keys() == {"not"}:
            return Not(parse_test(value["not"]))
        if value.keys() == {"matches"}:
            return Matches(_pattern(value["matches"]))
        if value and value.keys() <= {"min", "max", "above", "below"}:
            return Within(Bounds.parse(value))
        raise ValueError(
            f"expected not, matches, min, max, above or below, got {', '.join(map(str, value))}"
        )
    if isinstance(value, tuple):
        if not value:
            raise ValueError("expected at least one value in the list")
        if len(value) == 2 and all(_is_end(end) for end in value) and value != (None, None):
            return Within(Bounds.parse(value))
        if not all(isinstance(item, (str, int, float, bool, type(None))) for item in value):
            raise ValueError("expected plain values in the list")
        return Equals(value)
    if isinstance(value, (str, int, float, bool, type(None))):
        return Equals((value,))
    raise ValueError(f"expected a value, a list, or a test, got {value}")


def _is_end(value: object) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _pattern(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected an RE2 pattern, got {value}")
    compiled(value)
    return value


def _numbers(value: Value) -> Numbers:
    if isinstance(value, np.ndarray):
        return value
    kind = value.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return np.full(len(value), np.nan)
    numbers: Numbers = pc.cast(value, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return numbers


def _equal(value: Value, wanted: Scalar) -> Flags:
    if isinstance(value, np.ndarray):
        if wanted is None:
            return np.isnan(value)
        if isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
            return np.asarray(value == float(wanted), dtype=np.bool_)
        return np.zeros(len(value), dtype=np.bool_)
    return np.array(
        [
            item == wanted and isinstance(item, bool) == isinstance(wanted, bool)
            for item in value.to_pylist()
        ],
        dtype=np.bool_,
    )
