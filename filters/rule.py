"""The ``rule`` filter: bounds on any one measure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from cleanpipe.bounds import Bounds
from cleanpipe.parameters import nearest
from cleanpipe.stage import Filter, Measures, Rule
from cleanpipe.surface import SURFACE
from cleanpipe.units import Units


@dataclass(frozen=True)
class MeasureRule(Filter):
    """Drops texts for which one number lies outside a range; without one only takes the number.

    Parameters:
        of (``measure`` in pipeline files): a surface measure by its bare name, taken from
            the text as it is here, or a measure of an earlier stage (or a column of the
            input, ``column.NAME``) by its full name, such as ``remove.removed_share``.
        bounds: the range that passes (default: none, the measure is stored and drops nothing);
            or instead of it
        min, max: lowest and highest value that passes;
        above, below: the same, but these values themselves fail.

    Measures: the surface measure; one of an earlier stage is not stored again. Where it
    was not taken for a text, the text passes.
    """

    kind: ClassVar[str] = "rule"
    aliases: ClassVar[Mapping[str, str]] = {"measure": "of"}  # ``measure`` is the method

    of: str
    bounds: Bounds | None = None
    min: float | None = None
    max: float | None = None
    above: float | None = None
    below: float | None = None

    def check(self) -> Iterable[tuple[str, str]]:
        """That the measure is known, and that one range is given."""
        if "." not in self.of and self.of not in SURFACE:
            known = nearest(self.of, list(SURFACE))
            yield "of", f'"{self.of}" is no surface measure, and names no stage; {known}'
        try:
            bounds = self._range()
        except ValueError as error:
            yield "", str(error)
            return
        if self.bounds is not None and self._sides():
            yield "bounds", f"expected bounds or {', '.join(self._sides())}, not both"
        elif not bounds and self.needs():
            yield "", "expected bounds, or min, max, above or below: it is measured already"

    def rules(self) -> tuple[Rule, ...]:
        """One, called as the measure is; none without bounds."""
        bounds = self._range()
        return (Rule(self.of, self.of, bounds),) if bounds else ()

    def takes(self) -> tuple[str, ...]:
        """The measure, where it is a surface measure."""
        return () if self.needs() else (self.of,)

    def needs(self) -> tuple[str, ...]:
        """The measure, where an earlier stage takes it."""
        return (self.of,) if "." in self.of else ()

    def measure(self, units: Units) -> Measures:
        """Look it up, or take it."""
        return {self.of: units.number(self.of)}

    def _sides(self) -> dict[str, float]:
        named = {"min": self.min, "max": self.max, "above": self.above, "below": self.below}
        return {side: value for side, value in named.items() if value is not None}

    def _range(self) -> Bounds:
        if self.bounds is not None:
            return self.bounds
        sides = self._sides()
        return Bounds.parse(sides) if sides else Bounds()
