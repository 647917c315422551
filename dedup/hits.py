"""Passages to hits: which items a document holds, with which of their parts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cleanpipe import _native
from cleanpipe.dedup.item_index import Found, ItemIndex
from cleanpipe.dedup.item_parts import plain

NEAR = 64
"""Tokens between passages of one item that still stand together."""
BESIDE = 16
"""Tokens between a passage and a part too short to be judged that still count it as found."""


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
        kinds = {index.is_code(part) for part in beside}
        own = kinds == {True}  # programs by their tokens, what is mixed by words
        if True in kinds:  # so that places compare, whatever they were read as
            passages = reading.restated(text, passages, own)
        passages = _apart(index, passages)
        short = []
        for part in beside:
            if not index.judged(part):
                code = index.is_code(part)
                around = reading.restated(text, passages, code)
                found_beside = _beside(index, part, around, reading.tokens(text, code))
                if found_beside is not None:
                    short += reading.restated(text, [found_beside], own)
        passages += short
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


class _Row:
    """The passages of one part, from left to right; they hardly overlap."""

    def __init__(self, passages: Sequence[_Passage]) -> None:
        self.passages = sorted(passages, key=lambda each: (each.first, each.last))
        self._firsts = [each.first for each in self.passages]
        # Up to each, the one that reaches furthest.
        self._reach: list[_Passage] = list(accumulate(self.passages, _further))

    def near(self, first: int) -> Sequence[_Passage]:
        """Those that may hold a token, or are the next behind it."""
        at = bisect_right(self._firsts, first)
        return [*self._reach[max(0, at - 1) : at], *self.passages[max(0, at - 2) : at + 1]]


def _further(one: _Passage, other: _Passage) -> _Passage:
    return other if other.last > one.last else one


def _rows(passages: Sequence[_Passage]) -> dict[int, _Row]:
    by_part: dict[int, list[_Passage]] = {}
    for passage in passages:
        by_part.setdefault(passage.part, []).append(passage)
    return {part: _Row(mine) for part, mine in by_part.items()}


def _apart(index: ItemIndex, passages: Sequence[_Passage]) -> list[_Passage]:
    """Without those that lie in a longer passage of another part, or in one as long of an earlier:
    they are no evidence beside it."""
    rows = _rows(passages)

    def rank(passage: _Passage) -> tuple[int, int]:
        return passage.last - passage.first, -passage.part

    return [
        passage
        for passage in passages
        if not any(
            rank(other) > rank(passage)
            and _lies_in(index, passage.part, passage.first, passage.last, other)
            for part, row in rows.items()
            if part != passage.part
            for other in row.near(passage.first)
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
    rows = _rows(passages)
    shown = names[0]
    for before, part, name in zip(parts, parts[1:], names[1:], strict=False):
        near = any(
            max(one.first - other.last, other.first - one.last) <= NEAR
            for one in rows[before].passages
            for other in rows[part].near(one.first - NEAR)
        )
        shown += ("+" if near else ", ") + name
    return shown


class _Tokens:
    """The tokens of one text."""

    def __init__(self, text: str, code: bool) -> None:
        column = pa.array([text], pa.large_string())
        column = column if code else plain(column)
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
    rows = _rows(passages)
    seen = 0  # tokens before this one have been looked at
    taken = sorted((passage.first, passage.last) for passage in passages)
    for first, last in taken if size else ():
        low = max(seen, first - BESIDE - size + 1)
        high = min(len(tokens.hashes), last + BESIDE + size)
        window = tokens.hashes[low : max(low, high)]
        seen = max(seen, high - size + 1)
        for at in np.flatnonzero(window[: max(0, len(window) - size + 1)] == wanted[0]).tolist():
            begin, end = low + at, low + at + size - 1
            if not np.array_equal(tokens.hashes[begin : end + 1], wanted):
                continue
            inside = any(
                _lies_in(index, part, begin, end, other)
                for row in rows.values()
                for other in row.near(begin)
            )
            if not inside:
                bounds = int(tokens.starts[begin]), int(tokens.ends[end])
                return _Passage(part, begin, end, *bounds, 0)
    return None
