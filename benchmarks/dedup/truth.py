"""The truth about near-duplicates: the exact Jaccard similarity of n-gram sets, no MinHash.

Tokens are cleanpipe's; all else is made here, slowly and in another way than the package does it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cleanpipe import _native

Grams = frozenset[int]
Pair = tuple[int, int]


def gram_sets(texts: Sequence[str], n: int = 5) -> list[Grams]:
    """The set of n-grams of tokens of each text; of fewer than n tokens, one of all of them.

    A gram is a sum of its tokens' hashes, each times an odd number of its place, mod 2**64: two
    different ones are taken for one with a chance of about 2**-63.
    """
    strings = pa.array(texts, pa.large_string())
    offsets, _, _, hashes = _native.tokens(strings)
    factors = np.random.default_rng(5).integers(0, 2**63, n, dtype=np.uint64) * 2 + 1
    found = []
    for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        found.append(frozenset(_grams(hashes[start:end], factors).tolist()))
    return found


def _grams(
    tokens: npt.NDArray[np.uint64], factors: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    n = min(len(tokens), len(factors))
    if n == 0:
        return tokens
    size = len(tokens) - n + 1
    grams = np.full(size, n, dtype=np.uint64)
    for place in range(n):
        grams += tokens[place : place + size] * factors[place]
    return grams


def jaccard(one: Grams, other: Grams) -> float:
    """Grams in common over grams of either; 0 where a text has none."""
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0


def similar_pairs(sets: Sequence[Grams], threshold: float) -> dict[Pair, float]:
    """Every pair of at least this similarity, exactly, by the smaller number first.

    Two sets of Jaccard t share one of the rarest ``size - ceil(t * size) + 1`` grams of either, in
    any one order of all grams (Chaudhuri, Ganti and Kaushik 2006, "A Primitive Operator for
    Similarity Joins in Data Cleaning"): only those are looked up.
    """
    ids, starts = _by_rarity(sets)
    by_content: dict[bytes, list[int]] = defaultdict(list)
    for document, (start, end) in enumerate(zip(starts[:-1], starts[1:], strict=True)):
        if end > start:
            by_content[ids[start:end].tobytes()].append(document)
    found: dict[Pair, float] = {}
    holders: dict[int, list[int]] = defaultdict(list)
    for members in by_content.values():
        first = members[0]
        mine, size = sets[first], len(sets[first])
        prefix = ids[starts[first] : starts[first] + size - _least(threshold * size) + 1].tolist()
        near = {other for gram in prefix for other in holders[gram]}
        for gram in prefix:
            holders[gram].append(first)
        alike = [(first, 1.0)]
        for other in near:
            lesser, greater = sorted((size, len(sets[other])))
            if lesser >= threshold * greater - 1e-9:
                similarity = jaccard(mine, sets[other])
                if similarity >= threshold:
                    alike.append((other, similarity))
        for other, similarity in alike:
            others = by_content[ids[starts[other] : starts[other + 1]].tobytes()]
            for a in members:
                for b in others:
                    if a != b:
                        found[min(a, b), max(a, b)] = similarity
    return found


def _least(value: float) -> int:
    """The least whole number that is not below a value but for rounding."""
    return int(np.ceil(value - 1e-9))


def _by_rarity(sets: Sequence[Grams]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Each set's grams, the rarest first, as numbers by rarity, and where each set begins."""
    sizes = [len(grams) for grams in sets]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    flat = np.fromiter((gram for grams in sets for gram in grams), np.uint64, int(starts[-1]))
    _, inverse, counts = np.unique(flat, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.argsort(counts, kind="stable")] = np.arange(len(counts))
    ids = rank[inverse]
    owner = np.repeat(np.arange(len(sets)), sizes)
    return ids[np.lexsort((ids, owner))], starts
