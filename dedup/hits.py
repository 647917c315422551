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
    reading = _Reading(texts)
    for (text, first), passages in sorted(grouped.items(), key=lambda each: each[0]):
        beside = index.parts_beside(first)
        if len({index.is_code(part) for part in beside}) > 1:  # so that places compare
            passages = reading.restated(text, passages, False)
        passages = _apart(index, passages)
        for part in beside:
            if not index.judged(part):
                code = index.is_code(part)
                around = reading.restated(text, passages, code)
                found_beside = _beside(index, part, around, reading.tokens(text, code))
                if found_beside is not None:
                    code = index.is_code(first)
                    passages += reading.restated(text, [found_beside], code)
        judged = [passage for passage in passages if index.judged(passage.part)]
        weights = index.weights
        best = max(judged, key=lambda each: (each.covered / weights[each.part], -each.first))
        parts = tuple(sorted({passage.part for passage in passages}))
        names = [_names(index, part, passages, reading, text) for part in parts]
        yield Hit(
            text,
            index.part(best.part)[0],
            index.label(best.part),
            parts,
            _evidence(parts, names, passages),
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


def _names(
    index: ItemIndex, part: int, passages: Sequence[_Passage], reading: _Reading, text: int
) -> str:
    """The name of a part; of parts that are judged together the names of those of which half stands
    in a passage."""
    members = index.members(part)
    if len(members) == 1:
        return members[0][0]
    tokens = reading.tokens(text, index.is_code(part))
    mine = [passage for passage in passages if passage.part == part]
    there = np.zeros(len(tokens.hashes), dtype=np.bool_)
    for _, first, last, *_ in reading.restated(text, mine, index.is_code(part)):
        there[first : last + 1] = True
    stands = tokens.hashes[there]
    found = [name for name, each in members if 2 * np.isin(each, stands).sum() >= len(each)]
    return "+".join(found or [name for name, _ in members])


def _evidence(parts: Sequence[int], names: Sequence[str], passages: Sequence[_Passage]) -> str:
    """The parts' names, joined by ``+`` where passages stand near each other, else by ``, ``."""
    shown = names[0]
    for before, part, name in zip(parts, parts[1:], names[1:], strict=False):
        near = any(
            max(one.first - other.last, other.first - one.last) <= NEAR
            for one in passages
            if one.part == before
            for other in passages
            if other.part == part
        )
        shown += ("+" if near else ", ") + name
    return shown


class _Tokens:
    """The tokens of one text."""

    def __init__(self, text: str, code: bool) -> None:
        column = without_markup(pa.array([text], pa.large_string()), code)
        _, self.starts, self.ends, self.hashes = _native.tokens(column, code=code)


class _Reading:
    """The tokens of the text at hand, of either kind."""

    def __init__(self, texts: pa.Array) -> None:
        self._texts = texts
        self._text = -1
        self._tokens: dict[bool, _Tokens] = {}

    def tokens(self, text: int, code: bool) -> _Tokens:
        if text != self._text:
            self._text, self._tokens = text, {}
        if code not in self._tokens:
            self._tokens[code] = _Tokens(self._texts[text].as_py(), code)
        return self._tokens[code]

    def restated(self, text: int, passages: Sequence[_Passage], code: bool) -> list[_Passage]:
        """Passages with the numbers of their tokens as this kind of tokens has them."""
        tokens = self.tokens(text, code)
        return [
            passage._replace(
                first=int(np.searchsorted(tokens.ends, passage.start, side="right")),
                last=int(np.searchsorted(tokens.starts, passage.end)) - 1,
            )
            for passage in passages
        ]


def _beside(
    index: ItemIndex, part: int, passages: Sequence[_Passage], tokens: _Tokens
) -> _Passage | None:
    """Where a short part stands near passages of its item, in none: the first place."""
    wanted = index.tokens(part)
    size = len(wanted)
    taken = sorted(passages, key=lambda passage: (passage.first, passage.last))
    for _, first, last, *_ in taken if size else ():
        low = max(0, first - NEAR - size + 1)
        high = min(len(tokens.hashes), last + NEAR + size)
        window = tokens.hashes[low:high]
        for at in np.flatnonzero(window[: len(window) - size + 1] == wanted[0]).tolist():
            begin, end = low + at, low + at + size - 1
            free = not any(_lies_in(index, part, begin, end, other) for other in taken)
            if free and np.array_equal(tokens.hashes[begin : end + 1], wanted):
                bounds = int(tokens.starts[begin]), int(tokens.ends[end])
                return _Passage(part, begin, end, *bounds, 0)
    return None
