"""The ``line_runs`` filter: short lines in a row, as in menus, lists of links and footers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cleanpipe.bounds import Bounds, Flags
from cleanpipe.stage import Filter, Measures, Rule
from cleanpipe.units import Units


@dataclass(frozen=True)
class LineRuns(Filter):
    """Takes out lines that stand in a run of short lines: menus, lists of links, footers.

    A heading stands alone, a menu does not: so more of a page's frame goes than by the length
    of each line, and less of its text. It is made for ``remove: {unit: line}``; of units that
    are no parts of documents each is a run by itself.

    Formula: a unit is short if it has fewer than ``shorter_than`` characters and does not end
    as a sentence does (``terminal_punctuation_line_share`` in docs/measures.md is 0). The
    measure is the number of short units in a row, of one document, among which it stands; 0
    for one that is not short. Source: none; what it finds and what it takes from clean text
    is in docs/benchmarks.md. The limit on a short line, 30 characters, is FineWeb's (Penedo et
    al. 2024, section 3.6), whose rule drops the whole page.

    Parameters:
        run: bounds on the number of short units in a row. It has no default.
        shorter_than: characters, at least 1. Default 30.

    Measures: ``run``.
    """

    kind: ClassVar[str] = "line_runs"

    run: Bounds
    shorter_than: int = 30

    def rules(self) -> tuple[Rule, ...]:
        """One rule on ``run``."""
        return (Rule("run", "run", self.run),)

    def check(self) -> list[tuple[str, str]]:
        """That a line can be short at all."""
        if self.shorter_than < 1:
            return [("shorter_than", f"expected at least 1, got {self.shorter_than}")]
        return []

    def to_be_measured(self, units: Units) -> Flags:
        """All: a short one is part of a run too."""
        return np.ones(len(units), dtype=np.bool_)

    def measure(self, units: Units) -> Measures:
        """Two surface measures, and one walk over their changes."""
        short = units.number("characters") < self.shorter_than
        short &= units.number("terminal_punctuation_line_share") == 0
        count = len(short)
        document = np.arange(count) if units.document is None else units.document
        first = np.ones(count, dtype=np.bool_)
        first[1:] = (short[1:] != short[:-1]) | (document[1:] != document[:-1])
        which = np.cumsum(first) - 1
        return {"run": np.where(short, np.bincount(which)[which], 0).astype(np.float64)}
