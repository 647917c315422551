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
    lines: Sequence[int] = ()
    """Where lines begin, beside the first. Default: there is one."""


class Passage(NamedTuple):
    first: int
    last: int
    covered: int


def grams_of(part: Part) -> list[tuple[int, int]]:
    """Position and length of each gram: those of three tokens in a line; short lines whole."""
    borders = sorted({0, len(part.tokens), *part.lines})
    return [
        (at, min(GRAM, end - start))
        for start, end in zip(borders, borders[1:], strict=False)
        for at in range(start, max(start, end - GRAM) + 1)
    ]


def positions_of(part: Part) -> dict[tuple[int, ...], list[int]]:
    """Where each gram of the part begins; grams are known by their tokens."""
    places: dict[tuple[int, ...], list[int]] = {}
    for at, length in grams_of(part):
        places.setdefault(tuple(part.tokens[at : at + length]), []).append(at)
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


Match = tuple[int, int]
"""Tokens of the document, half-open."""


def passages(document: Sequence[int], part: Part, seeds: Sequence[int], n: int) -> list[Passage]:
    places = positions_of(part)
    found: list[Passage] = []

    def covered(window: Sequence[Match]) -> int:
        tokens = {
            position + k
            for begin, end in window
            for position in places[tuple(document[begin:end])][:POSITIONS]
            for k in range(end - begin)
        }
        return sum(part.weights[token] for token in tokens)

    for region in regions(seeds, n, part.span, len(document)):
        matches = [
            (begin, end)
            for end in range(region[0] + 1, region[-1] + 2)
            for begin in range(max(region[0], end - GRAM), end)
            if tuple(document[begin:end]) in places
        ]
        windows: list[tuple[int, int, int]] = []  # of matches, and what they cover
        left = right = 0  # matches[left : right + 1] is the window

        def fitting(low: int, high: int, matches: Sequence[Match] = matches) -> int:
            while matches[high][1] - matches[low][0] > part.span:
                low += 1
                if low > high:
                    break
            return low

        while right < len(matches):
            left = fitting(left, right)
            if not part.need or covered(matches[left : right + 1]) < part.need:
                right += 1
                continue
            low, high = left, right  # the best window so far
            slides, at = left, right + 1
            while (
                at < len(matches)
                and at - high <= high - low + 1 + PATIENCE
                and matches[at][0] <= matches[high][1] + part.span
            ):
                slides = fitting(slides, at)
                now = covered(matches[slides : at + 1])
                if now < part.need:
                    break
                if now > covered(matches[low : high + 1]):
                    low, high = slides, at
                at += 1
            window = matches[low : high + 1]
            while covered(window[1:]) == covered(window):
                window = window[1:]
                low += 1
            windows.append((low, high, covered(window)))
            left = right = high + 1
        taken = 0
        for at, (low, high, most) in enumerate(windows):
            while low > taken and beside(matches, low - 1):
                low -= 1
            behind = windows[at + 1][0] if at + 1 < len(windows) else len(matches)
            while high + 1 < behind and beside(matches, high):
                high += 1
            taken = high + 1
            window = matches[low : high + 1]
            found.append(edged(document, part, places, window, most, found))
    return found


def beside(matches: Sequence[Match], at: int) -> bool:
    """Whether a match stands beside the one behind it."""
    return matches[at + 1][0] <= matches[at][1] + EDGE


def edged(
    document: Sequence[int],
    part: Part,
    places: dict[tuple[int, ...], list[int]],
    window: Sequence[Match],
    covered: int,
    before: Sequence[Passage],
) -> Passage:
    """From the first to the last token of the matches, and the equal tokens near by."""
    begin = min(first for first, _ in window)
    free = before[-1].last + 1 if before else 0
    q = places[tuple(document[begin : next(e for b, e in window if b == begin)])][0]
    stop = window[-1][1]
    last_gram = tuple(document[window[-1][0] : stop])
    e = places[last_gram][-1] + len(last_gram) - 1
    first, last = begin, stop - 1
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
