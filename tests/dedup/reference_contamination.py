"""The judgement of docs/contamination.md once more, slow and obvious, sharing no code with it.

What the document leaves to the stage is an argument here: the threshold, and how many n-grams make
a part worth a look.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from ..native.reference_tokens import tokens

Part = tuple[str, str]
"""(name, text)."""

Tokenize = Callable[[str], list[str]]

ONE = 256
"""A weight of 1."""


class Passage(NamedTuple):
    """Where in a document a part of an item was found.

    Attributes:
        document, item: places in the lists given.
        part: its name.
        first, last: the document's tokens, both of them in the passage.
        covered, total: weight in 256ths of the part's covered tokens, and of all.
    """

    document: int
    item: int
    part: str
    first: int
    last: int
    covered: int
    total: int

    @property
    def score(self) -> float:
        return self.covered / self.total


def folded(text: str) -> list[str]:
    """The tokens of a text, as they are compared."""
    return [token.folded for token in tokens(text)]


def passages(
    items: Sequence[Sequence[Part]],
    texts: Sequence[str],
    *,
    threshold: Callable[[float], Fraction],
    least_seeds: Callable[[float], int],
    n: int = 5,
    reference: Sequence[str] = (),
    tokenize: Tokenize = folded,
) -> list[Passage]:
    """All passages, by document, then item, then part, then place.

    Args:
        items: of one test set, each with its parts. Parts that are judged together are one here.
        texts: the documents.
        threshold: the least score for an effective length: the part's whole weight, in tokens.
        least_seeds: how many n-grams of the part must stand close together, for the same.
        n: of the n-grams that are looked up.
        reference: texts that say what a common phrase is.
        tokenize: gives the tokens of a text.
    """
    weight = weights([[tokenize(text) for _, text in item] for item in items])
    common = common_grams([tokenize(text) for text in reference])
    found = []
    for at, text in enumerate(texts):
        document = tokenize(text)
        for number, item in enumerate(items):
            for name, part_text in item:
                part = tokenize(part_text)
                worth = worths(part, weight, common)
                total = sum(worth)
                if not total:
                    continue
                need = math.ceil(threshold(total / ONE) * total)
                near = close_to_seeds(part, document, n, least_seeds(total / ONE))
                for first, last, covered in sweep(part, worth, document, near, need):
                    found.append(Passage(at, number, name, first, last, covered, total))
    return found


def weights(items: Sequence[Sequence[Sequence[str]]]) -> dict[str, int]:
    """The weight of each token, in 256ths, from the items that have it, in whichever part."""
    having = Counter[str]()
    for item in items:
        having.update({token for part in item for token in part})
    most = math.log2(len(items) + 1)
    return {
        token: math.floor(ONE * min(1, math.log2((len(items) + 1) / df) / min(4, most)) + 0.5)
        for token, df in having.items()
    }


def common_grams(reference: Sequence[Sequence[str]]) -> set[tuple[str, ...]]:
    """The runs of one to three tokens that are in two or more texts of the reference."""
    having = Counter[tuple[str, ...]]()
    for text in reference:
        having.update({gram for size in (1, 2, 3) for gram in grams(text, size)})
    return {gram for gram, number in having.items() if number >= 2}


def grams(text: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(text[at : at + size]) for at in range(len(text) - size + 1)]


def worths(
    part: Sequence[str], weight: Mapping[str, int], common: set[tuple[str, ...]]
) -> list[int]:
    """The weight of each of the part's tokens in its place."""
    size = min(3, len(part))
    having = [
        [gram for start, gram in enumerate(grams(part, size)) if start <= at < start + size]
        for at in range(len(part))
    ]
    return [
        0 if all(gram in common for gram in of) else weight[token]
        for token, of in zip(part, having, strict=True)
    ]


def span(part: Sequence[str]) -> int:
    """How many tokens of a document a window has."""
    return 2 * len(part) + 16


def close_to_seeds(part: Sequence[str], document: Sequence[str], n: int, least: int) -> set[int]:
    """The places of a document that are looked at: [s - S, s + n + S) around each seed s.

    Where these ranges meet they are one region; one with fewer seeds than the least is left out.
    """
    n = min(n, len(part))
    wanted = set(grams(part, n))
    seeds = [at for at, gram in enumerate(grams(document, n)) if gram in wanted]
    regions: list[list[int]] = []
    for seed in seeds:
        if regions and seed - span(part) <= regions[-1][-1] + n + span(part):
            regions[-1].append(seed)
        else:
            regions.append([seed])
    return {
        place
        for region in regions
        if len(region) >= least
        for seed in region
        for place in range(seed - span(part), seed + n + span(part))
    }


def sweep(
    part: Sequence[str], worth: Sequence[int], document: Sequence[str], near: set[int], need: int
) -> list[tuple[int, int, int]]:
    """(first token, last token, covered weight) of each passage, from left to right.

    A window is a run of matches, no more than S tokens from the first token to the last.
    """
    size = min(3, len(part))
    of_part = grams(part, size)
    of_document = grams(document, size)
    matches = [at for at, gram in enumerate(of_document) if at in near and gram in of_part]

    def covered(window: Sequence[int]) -> int:
        there = {of_document[at] for at in window}
        places = {
            place
            for start, gram in enumerate(of_part)
            if gram in there
            for place in range(start, start + size)
        }
        return sum(worth[place] for place in places)

    def fits(first: int, last: int) -> bool:
        return last + size - first <= span(part)

    found: list[tuple[int, int, int]] = []
    while matches:
        window: list[int] = []
        for match in matches:
            window = [one for one in [*window, match] if fits(one, match)]
            if covered(window) >= need:
                break
        else:
            return found
        # As far to the right as gives more: the shortest of those that cover most.
        wider = [window]
        for match in matches:
            if match > window[-1] and fits(window[0], match):
                wider.append([*wider[-1], match])
        best = max(wider, key=covered)  # the first of equals
        while len(best) > 1 and covered(best[1:]) == covered(best):
            best = best[1:]
        last = best[-1] + size - 1
        found.append((best[0], last, covered(best)))
        matches = [match for match in matches if match > last]
    return found
