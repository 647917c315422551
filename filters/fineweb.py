"""The ``fineweb`` set: the rules that FineWeb adds to Gopher's and C4's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from cleanpipe.bounds import Bounds
from cleanpipe.filters.rule import MeasureRule
from cleanpipe.filters.variants import ByVariant, chosen
from cleanpipe.stage import NamedSet, Stage

_NUMBERS: Mapping[str, Mapping[str, Bounds]] = {
    "paper": {
        "terminal_punctuation_line_share": Bounds(0.12, None, low_strict=True),
        "duplicate_line_character_share": Bounds(None, 0.1, high_strict=True),
        "short_line_share": Bounds(None, 0.67, high_strict=True),
    },
    "datatrove": {
        "terminal_punctuation_line_share": Bounds(0.12, None),
        "duplicate_line_character_share": Bounds(None, 0.01),
        "short_line_share": Bounds(None, 0.67),
        "newline_word_ratio": Bounds(None, 0.3),
    },
}


@dataclass(frozen=True)
class FineWeb(NamedSet):
    """Drops documents that are lists, menus or templates by the look of their lines.

    Source: Penedo et al. 2024, "The FineWeb Datasets: Decanting the Web for the Finest Text
    Data at Scale", section 3.6: it removes documents whose share of lines that end with
    punctuation is <= 0.12, of characters in repeated lines >= 0.1, of lines shorter than 30
    characters >= 0.67. So the limit itself fails. datatrove, which made the data set, has
    other numbers in its code: there the limits pass, and 0.1 is 0.01.

    Parameters; each but the first is a surface measure, null turns it off:
        variant: whose limits those have that are not given: ``paper`` (default) or
            ``datatrove``.
        terminal_punctuation_line_share: default {above: 0.12}; datatrove [0.12, null].
        duplicate_line_character_share: default {below: 0.1}; datatrove [null, 0.01].
        short_line_share: default {below: 0.67}; datatrove [null, 0.67].
        newline_word_ratio: default none, as the paper has it; datatrove [null, 0.3].

    A line of 30 characters says more in Chinese than in English, and Chinese pages break it
    sooner: short_line_share needs another limit there.
    """

    kind: ClassVar[str] = "fineweb"

    variant: Literal["paper", "datatrove"] = "paper"
    terminal_punctuation_line_share: ByVariant = "variant"
    duplicate_line_character_share: ByVariant = "variant"
    short_line_share: ByVariant = "variant"
    newline_word_ratio: ByVariant = "variant"

    def expand(self) -> Sequence[tuple[str, Stage]]:
        """One ``rule`` for each parameter that bounds anything."""
        bounded = chosen(self, _NUMBERS[self.variant])
        return [(name, MeasureRule(name, bounds)) for name, bounds in bounded.items()]
