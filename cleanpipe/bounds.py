"""The one grammar of bounds: ``[low, high]``, ``{min, max}``, ``{above, below}``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic_core import PydanticCustomError, core_schema

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_SIDES = ("min", "max", "above", "below")
_EXPECTED = "expected [low, high] with null for an open end, or a map of min, max, above, below"


def number(value: float) -> str:
    """A number as people write it: ``50``, not ``50.0``."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


@dataclass(frozen=True)
class Bounds:
    """A range of float64 values; a value inside it passes.

    Attributes:
        low: lowest value that passes, or None where the range is open (default).
        high: highest value that passes, or None where the range is open (default).
        low_strict: ``low`` itself fails (``above:``). Default False.
        high_strict: ``high`` itself fails (``below:``). Default False.

    0 is a bound; None is none. A NaN (measure not taken) is inside every range.
    """

    low: float | None = None
    high: float | None = None
    low_strict: bool = False
    high_strict: bool = False

    @classmethod
    def parse(cls, value: object) -> Bounds:
        """Read the grammar of the pipeline file.

        Errors: ValueError with a sentence that says what was expected and found.
        """
        if isinstance(value, Bounds):
            return value
        if isinstance(value, (list, tuple)) and len(value) == 2:
            low, high = (_end(end) for end in value)
            return cls._checked(low, high, False, False)
        if isinstance(value, Mapping) and value and all(key in _SIDES for key in value):
            if {"min", "above"} <= value.keys() or {"max", "below"} <= value.keys():
                raise ValueError("expected one of min and above, and one of max and below")
            low = _end(value.get("min", value.get("above")))
            high = _end(value.get("max", value.get("below")))
            return cls._checked(low, high, "above" in value, "below" in value)
        by_label = isinstance(value, Mapping) and any(map(_is_bounds, value.values()))
        hint = "; for other bounds by language: per: language, cases: ..." if by_label else ""
        raise ValueError(f"{_EXPECTED}, got {_shown(value)}{hint}")

    @classmethod
    def _checked(
        cls, low: float | None, high: float | None, low_strict: bool, high_strict: bool
    ) -> Bounds:
        if low is None or high is None:
            return cls(low, high, low_strict and low is not None, high_strict and high is not None)
        if low > high or (low == high and (low_strict or high_strict)):
            raise ValueError(
                f"expected low <= high, got [{number(low)}, {number(high)}]: nothing passes"
            )
        return cls(low, high, low_strict, high_strict)

    def __bool__(self) -> bool:
        """Whether there is any bound at all."""
        return self.low is not None or self.high is not None

    def below(self, values: Numbers) -> Flags:
        """Flags, shape (n,): which values are too low."""
        if self.low is None:
            return np.zeros(len(values), dtype=np.bool_)
        low = np.float64(self.low)
        return values <= low if self.low_strict else values < low

    def above(self, values: Numbers) -> Flags:
        """Flags, shape (n,): which values are too high."""
        if self.high is None:
            return np.zeros(len(values), dtype=np.bool_)
        high = np.float64(self.high)
        return values >= high if self.high_strict else values > high

    def fails(self, values: Numbers) -> Flags:
        """Flags, shape (n,): which values lie outside; NaN never does."""
        return self.below(values) | self.above(values)

    def broken_by(self, value: float) -> str:
        """The end that ``value`` lies beyond, such as ``<= 0.3``; empty where it passes."""
        values = np.array([value], dtype=np.float64)
        if self.low is not None and self.below(values)[0]:
            return f"{'>' if self.low_strict else '>='} {number(self.low)}"
        if self.high is not None and self.above(values)[0]:
            return f"{'<' if self.high_strict else '<='} {number(self.high)}"
        return ""

    def __str__(self) -> str:
        ends = []
        if self.low is not None:
            ends.append(f"{'>' if self.low_strict else '>='} {number(self.low)}")
        if self.high is not None:
            ends.append(f"{'<' if self.high_strict else '<='} {number(self.high)}")
        return " and ".join(ends) or "any"

    def to_json(self) -> object:
        """The shortest form of the grammar that reads back as these bounds; 50 and 50.0 are one."""
        if not (self.low_strict or self.high_strict):
            return [_plain(self.low), _plain(self.high)]
        return self.sides()

    def sides(self) -> dict[str, float | None]:
        """The ends there are, by the words of the grammar: ``{"min": 3, "below": 10}``."""
        ends: dict[str, float | None] = {}
        if self.low is not None:
            ends["above" if self.low_strict else "min"] = _plain(self.low)
        if self.high is not None:
            ends["below" if self.high_strict else "max"] = _plain(self.high)
        return ends

    def written(self) -> str:
        """The shortest form of the grammar, as it stands in a pipeline file."""
        return plain_text(self.to_json())

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> core_schema.CoreSchema:
        def parse(value: object) -> Bounds:
            try:
                return cls.parse(value)
            except ValueError as error:
                raise PydanticCustomError("bounds", "{error}", {"error": str(error)}) from None

        return core_schema.no_info_plain_validator_function(parse)


def _is_bounds(value: object) -> bool:
    return isinstance(value, (list, tuple, Mapping))


def _end(value: object) -> float | None:
    if value is None:
        return None
    finite = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not finite:
        raise ValueError(f"expected a finite number or null as a bound, got {_shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(
            f"expected a bound of less than 1e308, got {_shown(value)[:20]}..."
        ) from None


def _plain(value: float | None) -> float | None:
    whole = value is not None and value == int(value) and abs(value) < 1e15
    return int(value) if whole and value is not None else value


def _shown(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else plain_text(value)


def plain_text(value: Any) -> str:
    """A value as it stands in a pipeline file: ``[3, null]``, ``{min: 3}``, ``true``."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(plain_text(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {plain_text(item)}" for key, item in value.items()) + "}"
    return str(value)
