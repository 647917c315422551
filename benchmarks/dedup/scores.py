"""What became of the texts, against the truth about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.dedup.truth import Grams, Pair, jaccard

NAMELESS = -1
"""In place of the survivor of a dropped text for which none is named."""

Verdicts = Sequence[int | None]
"""For each text None where it is kept, else the number of its survivor or NAMELESS."""


@dataclass(frozen=True)
class Score:
    """How well one tool did at a threshold of 0.8.

    Attributes:
        kept: texts that stayed.
        recall_08, recall_09: of the pairs of at least this Jaccard, the share of which not both
            texts stayed.
        kept_pairs_09: pairs of at least 0.9 that both stayed.
        in_kept_pairs: of the texts that stayed, the share that is in a pair of at least 0.82 that
            both stayed.
        wrong: dropped texts like which none stayed, at 0.8 and more.
        far: of those the ones like which none stayed even at 0.75 and more.
        misnamed: dropped texts whose named survivor was dropped too, or is less than 0.8 like it;
            None where no survivors are named.
    """

    kept: int
    recall_08: float
    recall_09: float
    kept_pairs_09: int
    in_kept_pairs: float
    wrong: int
    far: int
    misnamed: int | None


def score(verdicts: Verdicts, pairs: Mapping[Pair, float], sets: Sequence[Grams]) -> Score:
    """Count.

    Args:
        pairs: every pair of Jaccard >= 0.75.
        sets: each text's n-grams.
    """
    stays = [survivor is None for survivor in verdicts]
    named = any(survivor is not None and survivor != NAMELESS for survivor in verdicts)
    return Score(
        kept=sum(stays),
        recall_08=_recall(stays, pairs, 0.8),
        recall_09=_recall(stays, pairs, 0.9),
        kept_pairs_09=len(kept_pairs(stays, pairs, 0.9)),
        in_kept_pairs=len({text for pair in kept_pairs(stays, pairs, 0.82) for text in pair})
        / sum(stays),
        wrong=_unlike(stays, pairs, 0.8),
        far=_unlike(stays, pairs, 0.75),
        misnamed=len(misnamed(verdicts, sets, 0.8)) if named else None,
    )


def kept_pairs(stays: Sequence[bool], pairs: Mapping[Pair, float], least: float) -> list[Pair]:
    """The pairs of at least this similarity that both stayed."""
    return [(a, b) for (a, b), near in pairs.items() if near >= least and stays[a] and stays[b]]


def misnamed(verdicts: Verdicts, sets: Sequence[Grams], least: float) -> list[int]:
    """The dropped texts whose survivor was dropped too, or is less like them than this."""
    return [
        text
        for text, survivor in enumerate(verdicts)
        if survivor is not None
        and (verdicts[survivor] is not None or jaccard(sets[text], sets[survivor]) < least)
    ]


def _recall(stays: Sequence[bool], pairs: Mapping[Pair, float], least: float) -> float:
    size = sum(near >= least for near in pairs.values())
    return 1 - len(kept_pairs(stays, pairs, least)) / size if size else 1.0


def _unlike(stays: Sequence[bool], pairs: Mapping[Pair, float], least: float) -> int:
    """Dropped texts without one that stayed and is at least so like them."""
    like = {a for (a, b), near in pairs.items() if near >= least and stays[b]}
    like |= {b for (a, b), near in pairs.items() if near >= least and stays[a]}
    return sum(not stay and text not in like for text, stay in enumerate(stays))
