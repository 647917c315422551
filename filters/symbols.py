"""The ``symbols`` filter: what kinds of characters a text is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cleanpipe.bounds import Bounds
from cleanpipe.limits import Limits


@dataclass(frozen=True)
class Symbols(Limits):
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
