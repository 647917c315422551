"""The ``symbols`` filter: what kinds of characters a text is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import ClassVar

from cleanpipe.bounds import Bounds
from cleanpipe.stage import Filter, Rule


@dataclass(frozen=True)
class Symbols(Filter):
    """Drops texts with too many (or too few) characters of a kind.

    Each share is characters of the kind over visible characters (docs/measures.md
    says which these are), 0 for a text without any; full-width forms count as their kind.

    Parameters (none has a default: there is no number that fits prose, code and every
    script, and no paper that gives one):
        symbol_share: bounds on punctuation and symbols together (P*, S*).
        punctuation_share: bounds on punctuation (P*).
        digit_share: bounds on decimal digits of any script (Nd).
        upper_share: bounds on capitals (Lu), over letters, those without case included.
        letter_share: bounds on letters with their marks (L*, Mn, Mc).

    Measures: those that are bounded, under the names of the parameters.
    """

    kind: ClassVar[str] = "symbols"

    symbol_share: Bounds | None = None
    punctuation_share: Bounds | None = None
    digit_share: Bounds | None = None
    upper_share: Bounds | None = None
    letter_share: Bounds | None = None

    def check(self) -> Iterable[tuple[str, str]]:
        """That anything is bounded."""
        if not self.rules():
            names = ", ".join(each.name for each in fields(self) if each.name != "min_tokens")
            yield "", f"expected bounds on at least one of {names}"

    def rules(self) -> tuple[Rule, ...]:
        """The shares in the order of the parameters, each where it is bounded."""
        return tuple(Rule(name, name, bounds) for name, bounds in self.bounded().items())
