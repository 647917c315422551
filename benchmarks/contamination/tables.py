"""Counts and tables: recall by disguise, false alarms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.contamination.detector import Hit, Key
from benchmarks.contamination.planting import DISGUISES, Planted

SHORT = 8
"""Items of fewer tokens are counted apart."""


@dataclass
class Recall:
    """How many planted items each detector found, under (disguise, column).

    Attributes:
        planted: of all.
        found: by each detector.
        others: (document, other item) found beside what was planted, by each detector.
    """

    planted: Counter[tuple[str, str]] = field(default_factory=Counter)
    found: dict[str, Counter[tuple[str, str]]] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(
        cls,
        documents: Sequence[Planted],
        found: Mapping[str, Sequence[Mapping[Key, Hit]]],
        column: Callable[[Planted], str],
    ) -> Recall:
        recall = cls()
        recall.planted.update((one.disguise, column(one)) for one in documents)
        for name, hits in found.items():
            recall.found[name] = Counter()
            for one, of in zip(documents, hits, strict=True):
                key = one.item.test_set, one.item.test_item
                recall.found[name][one.disguise, column(one)] += key in of
                recall.others[name] += len(of) - (key in of)
        return recall

    def rows(self, columns: Sequence[str]) -> Iterable[str]:
        """A line a disguise: of each column, the share that each detector found, and of how many.

        Columns without any are left out, and so are disguises.
        """
        columns = [one for one in columns if any(self.planted[name, one] for name in DISGUISES)]
        width = 8 * len(self.found) + 7
        yield f"{'':36}" + "".join(f"{column:>{width}}" for column in columns)
        heads = "".join(f"{name:>8}" for name in self.found) + f"{'of':>7}"
        yield f"{'':36}" + heads * len(columns)
        for disguise in DISGUISES:
            if any(self.planted[disguise, column] for column in columns):
                cells = "".join(self._cells((disguise, column)) for column in columns)
                yield f"{disguise:36}{cells}".rstrip()

    def _cells(self, at: tuple[str, str]) -> str:
        planted = self.planted[at]
        if not planted:
            return " " * (8 * len(self.found) + 7)
        shares = "".join(f"{of[at] / planted:>8.1%}" for of in self.found.values())
        return f"{shares}{planted:>7,}"


def excerpt(text: str, most: int = 160) -> str:
    """On one line, its middle left out where it is long."""
    text = " ".join(text.split())
    half = most // 2
    return text if len(text) <= most else f"{text[:half]} ... {text[-half:]}"
