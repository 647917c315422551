"""Passages, slowly, from the definition in cleanpipe/native/passages.h."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

GRAM, POSITIONS, PATIENCE, EDGE = 3, 64, 8, 8


class Part(NamedTuple):
    tokens: Sequence[int]
    weights: Sequence[int]
    need: int
    span: int


class Passage(NamedTuple):
    first: int
    last: int
    covered: int


def positions_of(part: Part) -> dict[tuple[int, ...], list[int]]:
    """Where each m-gram of the part begins; grams are known by their tokens."""
    m = min(GRAM, len(part.tokens))
    places: dict[tuple[int, ...], list[int]] = {}
    for at in range(len(part.tokens) - m + 1 if m else 0):
        places.setdefault(tuple(part.tokens[at : at + m]), []).append(at)
    return places


def regions(seeds: Sequence[int], n: int, span: int, length: int) -> list[list[int]]:
    """Tokens of the document in a row, each in the reach of some seed."""
    reached = sorted(
        {at for s in seeds for at in range(max(0, s - span), min(length, s + n + span))}
    )
    found: list[list[int]] = []
    for at in reached:
        if found and found[-1][-1] == at - 1:
            found[-1].append(at)
        else:
            found.append([at])
    return found


def passages(document: Sequence[int], part: Part, seeds: Sequence[int], n: int) -> list[Passage]:
    m = min(GRAM, len(part.tokens))
    places = positions_of(part)
    found: list[Passage] = []

    def covered(matches: Sequence[int]) -> int:
        tokens = {
            position + k
            for begin in matches
            for position in places[tuple(document[begin : begin + m])][:POSITIONS]
            for k in range(m)
        }
        return sum(part.weights[token] for token in tokens)

    def too_long(left: int, right: int) -> bool:
        return right + m - left > part.span

    for region in regions(seeds, n, part.span, len(document)):
        matches = [j for j in region[: len(region) - m + 1] if tuple(document[j : j + m]) in places]
        left = right = 0  # matches[left : right + 1] is the window
        while m and right < len(matches):
            while left <= right and too_long(matches[left], matches[right]):
                left += 1
            if not part.need or covered(matches[left : right + 1]) < part.need:
                right += 1
                continue
            last, added = right, right + 1
            while (
                added < len(matches)
                and not too_long(matches[left], matches[added])
                and added - last <= last - left + 1 + PATIENCE
            ):
                if covered(matches[left : added + 1]) > covered(matches[left : last + 1]):
                    last = added
                added += 1
            most = covered(matches[left : last + 1])
            while covered(matches[left + 1 : last + 1]) == most:
                left += 1
            found.append(edged(document, part, places, matches[left], matches[last], most, found))
            left = right = last + 1
    return found


def edged(
    document: Sequence[int],
    part: Part,
    places: dict[tuple[int, ...], list[int]],
    begin: int,
    end: int,
    covered: int,
    before: Sequence[Passage],
) -> Passage:
    """From the match at `begin` to the match at `end`, and the equal tokens near by."""
    m = min(GRAM, len(part.tokens))
    free = before[-1].last + 1 if before else 0
    q = places[tuple(document[begin : begin + m])][0]
    e = places[tuple(document[end : end + m])][-1] + m - 1
    first, last = begin, end + m - 1
    lefts = [
        k
        for k in range(1, EDGE + 1)
        if k <= q and begin - k >= free and document[begin - k] == part.tokens[q - k]
    ]
    rights = [
        k
        for k in range(1, EDGE + 1)
        if e + k < len(part.tokens)
        and last + k < len(document)
        and document[last + k] == part.tokens[e + k]
    ]
    return Passage(first - max(lefts, default=0), last + max(rights, default=0), covered)
