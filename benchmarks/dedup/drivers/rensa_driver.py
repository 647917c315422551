"""rensa: its deduplicator with LSH, which keeps a text unless it estimates one kept so similar."""

from __future__ import annotations

from driver import NAMELESS, main, shingles
from rensa import RMinHashDeduplicator


def verdicts(texts: list[str]) -> list[int | None]:
    found = RMinHashDeduplicator(threshold=0.8, num_perm=128, use_lsh=True, seed=1)
    kept = found.add_pairs((str(number), of) for number, of in enumerate(shingles(texts)))
    return [None if flag else NAMELESS for flag in kept]


main(verdicts)
