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

    def rows(self, columns: Sequence[str], names: Sequence[str]) -> Iterable[str]:
        """A line a disguise: of each column, how many were planted and the share each found."""
        width = 8 + 10 * len(names)
        yield f"{'':36}" + "".join(f"{column:>{width}}" for column in columns)
        heads = f"{'n':>8}" + "".join(f"{name[:9]:>10}" for name in names)
        yield f"{'':36}" + heads * len(columns)
        for disguise in DISGUISES:
            cells = [self._cells((disguise, column), names) for column in columns]
            if any(self.planted[disguise, column] for column in columns):
                yield f"{disguise:36}" + "".join(cells)

    def _cells(self, at: tuple[str, str], names: Sequence[str]) -> str:
        planted = self.planted[at]
        if not planted:
            return " " * (8 + 10 * len(names))
        shares = (self.found[name][at] / planted for name in names)
        return f"{planted:>8,}" + "".join(f"{share:>10.1%}" for share in shares)


def excerpt(text: str, most: int = 160) -> str:
    """On one line, its middle left out where it is long."""
    text = " ".join(text.split())
    half = most // 2
    return text if len(text) <= most else f"{text[:half]} ... {text[-half:]}"
