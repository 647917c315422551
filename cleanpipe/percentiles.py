"""Bounds that are percentiles of a reference: found once, when a plan is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias

import numpy as np
from pydantic import PlainValidator, ValidationError, ValidationInfo
from pydantic_core import PydanticCustomError

from cleanpipe.bounds import Bounds, Numbers
from cleanpipe.parameters import LocalPath, LocalPaths, adapted

LEAST = 100
"""Fewest numbers that have percentiles: of fewer, the 1st and the 99th are chance."""


@dataclass(frozen=True)
class Percentiles:
    """``{percentile: [2, 60], of: reference.jsonl}`` in place of bounds.

    Attributes:
        percentile: which percentiles are the bounds, each from 0 to 100.
        of: files with reference texts, or one name that the stage knows. Default: empty, what the
            stage has by itself.
        found: the numbers, once they are known. Default None.
    """

    percentile: Bounds
    of: tuple[LocalPath, ...] = ()
    found: Bounds | None = field(default=None)

    @classmethod
    def parse(cls, value: Mapping[str, Any], base: str) -> Percentiles:
        """Read the grammar of the pipeline file.

        Errors: ValueError with a sentence that says what was expected and found.
        """
        unknown = [key for key in value if key not in ("percentile", "of")]
        if unknown:
            raise ValueError(f'expected percentile and of, got "{unknown[0]}"')
        percentile = Bounds.parse(value["percentile"])
        for end in (percentile.low, percentile.high):
            if end is not None and not 0 <= end <= 100:
                raise ValueError(f"expected percentiles from 0 to 100, got {end:g}")
        if percentile.high is not None and percentile.high <= 1:
            raise ValueError(
                f"expected percentiles from 0 to 100, got {percentile.high:g} as the higher one: "
                f"write {percentile.high * 100:g} for a share of {percentile.high:g}"
            )
        if not percentile:
            raise ValueError("expected a percentile at one end at least")
        of = value.get("of") or ()  # null is the default
        try:
            files = adapted(LocalPaths, tuple(of) if isinstance(of, list) else of, base)
        except ValidationError:
            raise ValueError(f"expected a path or a list of them as of, got {of}") from None
        return cls(percentile, files)

    def within(self, table: Mapping[float, float] | Numbers) -> Bounds:
        """The bounds.

        Args:
            table: numbers, shape (n,), whose percentiles are taken (NumPy's linear interpolation,
                Hyndman and Fan 1996, definition 7); or the values of some percentiles.

        Errors: KeyError for a percentile that the table lacks.
        """

        def at(end: float | None) -> float | None:
            if end is None:
                return None
            return table[end] if isinstance(table, Mapping) else float(np.percentile(table, end))

        wanted = self.percentile
        low, high = at(wanted.low), at(wanted.high)
        return Bounds(low, high, wanted.low_strict, wanted.high_strict)

    def __str__(self) -> str:
        of = ", ".join(path.written for path in self.of)
        return f"percentiles {self.percentile}" + (f" of {of}" if of else "")


def _range(value: Any, info: ValidationInfo) -> Bounds | Percentiles:
    try:
        if isinstance(value, Percentiles):
            return value
        if isinstance(value, Mapping) and "percentile" in value:
            return Percentiles.parse(value, (info.context or {}).get("base", "."))
        return Bounds.parse(value)
    except ValueError as error:
        raise PydanticCustomError("bounds", "{error}", {"error": str(error)}) from None


Range: TypeAlias = Annotated[Bounds | Percentiles, PlainValidator(_range)]
"""A parameter that is bounds, or percentiles of a reference."""
