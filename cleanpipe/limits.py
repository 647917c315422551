"""Filters whose parameters are bounds on measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, get_type_hints

from cleanpipe.bounds import Bounds
from cleanpipe.stage import Filter, Rule


@dataclass(frozen=True, kw_only=True)
class Limits(Filter):
    """A filter with a rule for each of its parameters that are bounds; at least one must be set.

    Class attributes:
        measured: the measures of those parameters that have other names than these.
    """

    measured: ClassVar[Mapping[str, str]] = {}

    def check(self) -> Iterable[tuple[str, str]]:
        """That anything is bounded."""
        if not self.bounded():
            hints = get_type_hints(type(self))
            names = ", ".join(name for name, hint in hints.items() if hint == Bounds | None)
            yield "", f"expected bounds on at least one of {names}"

    def rules(self) -> tuple[Rule, ...]:
        """One for each parameter that is bounded, under its name and in their order."""
        return tuple(
            Rule(name, self.measured.get(name, name), bounds)
            for name, bounds in self.bounded().items()
        )
