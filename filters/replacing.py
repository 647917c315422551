"""Changes of a text, step after step, and the edits they come to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

NEAR = 16
"""Changes for one reason, in one line, with at most so many characters between them, become one
edit: text of which each letter changes would else need one for each."""


class Change(NamedTuple):
    """Characters [start, end) give way to ``put``, for the rule of this place.

    A text's changes are sorted and do not overlap.
    """

    start: int
    end: int
    put: str
    rule: int


def changed(text: str, changes: Sequence[Change]) -> str:
    """The text after these changes."""
    parts: list[str] = []
    last = 0
    for change in changes:
        parts += (text[last : change.start], change.put)
        last = change.end
    parts.append(text[last:])
    return "".join(parts)


def composed(first: Sequence[Change], between: str, second: Sequence[Change]) -> list[Change]:
    """Changes that do at once what two steps do.

    Args:
        first: of the text before.
        between: what they make of it.
        second: of that text. Where these touch the first, the two become one change, for the
            second's rule.
    """
    if not first or not second:
        return [*first, *second]
    made: list[Change] = []
    for before, after, shift in _touching(first, second):
        if not after:
            made += before
        elif not before:
            made += (Change(c.start - shift, c.end - shift, c.put, c.rule) for c in after)
        else:
            start, end = before[0].start + shift, after[-1].end
            grown = shift + sum(len(c.put) - (c.end - c.start) for c in before)
            low = min(start, after[0].start)
            high = max(before[-1].end + grown, end)
            inner = [Change(c.start - low, c.end - low, c.put, c.rule) for c in after]
            put = changed(between[low:high], inner)
            made.append(Change(low - shift, high - grown, put, after[-1].rule))
    return made


def _touching(
    first: Sequence[Change], second: Sequence[Change]
) -> Iterator[tuple[list[Change], list[Change], int]]:
    """Changes of both steps that touch, together; how far the text between had moved before."""
    one = two = shift = 0
    while one < len(first) or two < len(second):
        before: list[Change] = []
        after: list[Change] = []
        moved = shift
        reach = -1
        while True:
            a = first[one].start + shift if one < len(first) else None
            b = second[two].start if two < len(second) else None
            if a is not None and (b is None or a <= b):
                if (before or after) and a > reach:
                    break
                change = first[one]
                shift += len(change.put) - (change.end - change.start)
                reach = max(reach, change.end + shift)
                before.append(change)
                one += 1
            elif b is not None:
                if (before or after) and b > reach:
                    break
                reach = max(reach, second[two].end)
                after.append(second[two])
                two += 1
            else:
                break
        yield before, after, moved


def edits(text: str, changes: Sequence[Change]) -> list[Change]:
    """The same changes with those that are near each other as one, and without those that are
    none; start and end are byte offsets in UTF-8."""
    near: list[list[Change]] = []
    for change in changes:
        if text[change.start : change.end] == change.put:
            continue
        last = near[-1][-1] if near else None
        if (
            last is not None
            and last.rule == change.rule
            and change.start - last.end <= NEAR
            and "\n" not in text[last.end : change.start]
        ):
            near[-1].append(change)
        else:
            near.append([change])
    made: list[Change] = []
    at = offset = 0
    for some in near:
        first, last = some[0], some[-1]
        start = offset + len(text[at : first.start].encode())
        offset = start + len(text[first.start : last.end].encode())
        at = last.end
        gaps = (text[a.end : b.start] for a, b in pairwise(some))
        put = first.put + "".join(gap + b.put for gap, b in zip(gaps, some[1:], strict=True))
        made.append(Change(start, offset, put, first.rule))
    return made
