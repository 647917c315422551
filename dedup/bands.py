"""How a signature is cut into bands: enough for recall, and then as few comparisons as can be."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

RECALL = 0.94
"""Of pairs just at the threshold, the least share that must be candidates."""
RECALL_ABOVE = 0.999
"""Of pairs ``ABOVE`` over the threshold, the same."""
ABOVE = 0.1

_STEPS = 1000  # of the midpoint rule


class Bands(NamedTuple):
    """``bands`` of ``rows`` values each, from the first of a signature on."""

    bands: int
    rows: int


def candidate_share(similarity: float, bands: int, rows: int) -> float:
    """The probability that a pair of this Jaccard similarity agrees in some band.

    1 - (1 - s ** rows) ** bands: the S-curve of Leskovec, Rajaraman, Ullman, "Mining of
    Massive Datasets", section 3.4.2.
    """
    chance: float = 1 - (1 - similarity**rows) ** bands
    return chance


@cache
def choose(threshold: float, num_perm: int) -> Bands | None:
    """The bands for a threshold, 0 < threshold <= 1, and signatures of ``num_perm`` values.

    Of all bands x rows <= num_perm those come into question that make a candidate of a pair at
    the threshold with a probability of at least 0.94, and of one 0.1 above it (at most 1) with
    at least 0.999. Of these it is the one with the least false candidates: the area under the
    S-curve below the threshold, which is their share if all similarities there are as frequent
    (section 3.4.3 there weighs false positives against false negatives; here the latter are
    bounded, and verification removes the former, which only cost time).

    Returns None where none is enough: where ``num_perm`` is below :func:`least`. 0.8 and 128
    values give 16 bands of 8 rows.
    """
    found = [
        Bands(bands, rows)
        for rows in range(1, num_perm + 1)
        if (bands := _enough(threshold, rows, num_perm // rows)) is not None
    ]
    return min(found, key=lambda each: _false(threshold, *each), default=None)


def least(threshold: float) -> int:
    """The fewest permutations with which :func:`choose` finds bands for this threshold."""
    num_perm = 1
    while _enough(threshold, 1, num_perm) is None:  # one row a band finds most
        num_perm *= 2
    found = _enough(threshold, 1, num_perm)
    assert found is not None
    return found


def _enough(threshold: float, rows: int, most: int) -> int | None:
    """The fewest bands of so many rows that reach both recalls, if ``most`` do."""

    def reach(bands: int) -> bool:
        above = min(threshold + ABOVE, 1.0)
        return (
            candidate_share(threshold, bands, rows) >= RECALL
            and candidate_share(above, bands, rows) >= RECALL_ABOVE
        )

    if not reach(most):
        return None
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reach(middle) else (middle + 1, high)
    return low


def _false(threshold: float, bands: int, rows: int) -> float:
    """The area under the S-curve from 0 to the threshold."""
    width = threshold / _STEPS
    curve = (candidate_share((step + 0.5) * width, bands, rows) for step in range(_STEPS))
    return width * sum(curve)
