"""Passages to hits: which items a document holds, with which of their parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cleanpipe import _native
from cleanpipe.dedup.item_index import Found, ItemIndex
from cleanpipe.dedup.item_parts import without_markup

NEAR = 64
"""Tokens between passages of one item that still stand together."""


class Hit(NamedTuple):
    """One item in one document.

    Attributes:
        unit: which document.
        set, item: whose.
        parts: the parts of the index that were found, in the order of the item.
        evidence: what was found, such as ``question+answer``.
        score, threshold: of the best passage: how much of its part was found, how much it takes.
        start, end: its byte offsets in the document.
        passages: byte offsets of all passages, in order.
    """

    unit: int
    set: str
    item: str
    parts: tuple[int, ...]
    evidence: str
    score: float
    threshold: float
    start: int
    end: int
    passages: tuple[tuple[int, int], ...]


class _Passage(NamedTuple):
    part: int
    first: int
    last: int
    start: int
    end: int
    covered: int


def hits_of(
    index: ItemIndex, texts: pa.Array, found: Found, threshold: float | None
) -> Iterator[Hit]:
    """The passages of each item in each document as one hit."""
    rows = zip(*(column.tolist() for column in found), strict=True)
    grouped: dict[tuple[int, int], list[_Passage]] = {}
    for text, part, *place in rows:
        item = index.parts_beside(part).start
        grouped.setdefault((text, item), []).append(_Passage(part, *place))
    tokens: tuple[int, bool, _Tokens] | None = None
    for (text, _), passages in sorted(grouped.items(), key=lambda each: each[0]):
        passages = _apart(index, passages)
        beside = index.parts_beside(passages[0].part)
        short = [part for part in beside if not index.judged(part)]
        if short:
            code = index.is_code(passages[0].part)
            if tokens is None or tokens[:2] != (text, code):
                tokens = (text, code, _Tokens(texts[text].as_py(), code))
            near = (_beside(index, part, passages, tokens[2]) for part in short)
            passages = passages + [passage for passage in near if passage is not None]
        judged = [passage for passage in passages if index.judged(passage.part)]
        weights = index.weights
        best = max(judged, key=lambda each: (each.covered / weights[each.part], -each.first))
        name, _, _ = index.part(best.part)
        parts = tuple(sorted({passage.part for passage in passages}))
        yield Hit(
            text,
            name,
            index.label(best.part),
            parts,
            _evidence(index, parts, passages),
            float(best.covered / weights[best.part]),
            index.threshold(best.part, threshold),
            best.start,
            best.end,
            tuple(sorted({(passage.start, passage.end) for passage in passages})),
        )


def _apart(index: ItemIndex, passages: Sequence[_Passage]) -> list[_Passage]:
    """Without those that lie in a passage of an earlier part: they are no evidence beside it."""
    return [
        passage
        for passage in passages
        if not any(
            other.part < passage.part
            and _lies_in(index, passage.part, passage.first, passage.last, other)
            for other in passages
        )
    ]


def _lies_in(index: ItemIndex, part: int, first: int, last: int, other: _Passage) -> bool:
    """Whether a part's tokens are some of a passage, and not what it has beside its own part."""
    more = other.last + 1 - other.first - len(index.tokens(other.part))
    size = min(last + 1 - first, len(index.tokens(part)))
    return other.first <= first and last <= other.last and more < size


def _evidence(index: ItemIndex, parts: Sequence[int], passages: Sequence[_Passage]) -> str:
    """The parts' names, joined by ``+`` where passages stand near each other, else by ``, ``."""
    shown = index.part(parts[0])[2]
    for before, part in zip(parts, parts[1:], strict=False):
        near = any(
            max(one.first - other.last, other.first - one.last) <= NEAR
            for one in passages
            if one.part == before
            for other in passages
            if other.part == part
        )
        shown += ("+" if near else ", ") + index.part(part)[2]
    return shown


class _Tokens:
    """The tokens of one text."""

    def __init__(self, text: str, code: bool) -> None:
        column = without_markup(pa.array([text], pa.large_string()), code)
        _, self.starts, self.ends, self.hashes = _native.tokens(column, code=code)


def _beside(
    index: ItemIndex, part: int, passages: Sequence[_Passage], tokens: _Tokens
) -> _Passage | None:
    """Where a short part stands near passages of its item, in none: the first place."""
    wanted = index.tokens(part)
    size = len(wanted)
    taken = sorted(passages, key=lambda passage: (passage.first, passage.last))
    for _, first, last, *_ in taken if size else ():
        low, high = max(0, first - NEAR - size), min(len(tokens.hashes), last + 1 + NEAR + size)
        window = tokens.hashes[low:high]
        for at in np.flatnonzero(window[: len(window) - size + 1] == wanted[0]).tolist():
            begin, end = low + at, low + at + size - 1
            free = not any(_lies_in(index, part, begin, end, other) for other in taken)
            if free and np.array_equal(tokens.hashes[begin : end + 1], wanted):
                bounds = int(tokens.starts[begin]), int(tokens.ends[end])
                return _Passage(part, begin, end, *bounds, 0)
    return None
