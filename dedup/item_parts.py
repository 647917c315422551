"""The parts of a test set as they are looked for: tokens, weights, grams and n-grams.

docs/contamination.md has the definitions. A set is prepared by itself: what is found of it does
not depend on the sets beside it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cleanpipe import _native
from cleanpipe.dedup.items import Item, Part
from cleanpipe.dedup.ngram_index import NgramIndex

MIN_WEIGHT: Mapping[str, float] = {"words": 4.0, "code": 8.0}
"""Weight, in tokens, below which a part is not judged alone: what programs share is longer."""
UNIT = 256
"""Weights are whole numbers of 1 / UNIT."""

_NGRAM: Mapping[str, int] = {"words": 5, "code": 8}
_SHORT_NGRAM = 3
_FEW = 8
"""N-grams below which a part is looked for by those of ``_SHORT_NGRAM`` tokens."""
_GRAM = 3
_COMMON = 16
"""Parts of a set that may share an n-gram that is looked for."""
_RAREST = 4
"""N-grams of a part that are looked for whoever shares them."""
_SATURATED = 4.0
"""Bits of rarity from which on a token weighs 1."""
_REFERENCE_TEXTS = 2
"""Texts of the reference that make a gram a common phrase."""

_NUMBERING = re.compile(
    r"^[ \t]*(?:[(\[（【]?(?:[A-Za-z]|\d{1,2})[)\].:、．）】](?=\s|$)|\d{1,2}、)[ \t]*", re.M
)

Tokens = Literal["words", "code"]
TOKENS: tuple[Tokens, Tokens] = ("words", "code")
Ints = npt.NDArray[np.int64]
Kind = tuple[bool, int]
"""Whether n-grams are of code tokens, and n."""
Pairs = tuple[Kind, npt.NDArray[np.uint64], npt.NDArray[np.uint32]]
"""N-grams of one kind, and the part that each leads to; by n-gram, then part."""
_Seeds = tuple[Kind, npt.NDArray[np.uint64], Ints]
"""The same, in any order."""

RAGGED: Mapping[str, tuple[str, ...]] = {
    "token_offsets": ("tokens", "weights"),
    "gram_offsets": ("grams", "gram_positions", "gram_lengths"),
    "member_offsets": ("members",),
}
"""Arrays of which each part has some values, by the name of their offsets. ``members`` has the
tokens of each of the parts that were joined."""


@dataclass(frozen=True)
class TestSetEntry:
    """What an index knows of one test set.

    Attributes:
        name: its name.
        tokens: how its parts are read: ``words``, ``code`` or both.
        min_weight: for each of these, the weight below which a part was not to be judged alone.
        reference: texts of the reference sample, 0 for none.
        items: how many it has.
        too_short: ids of the items of which nothing is judged, in order.
    """

    __test__ = False  # no test, whatever pytest thinks

    name: str
    tokens: tuple[Tokens, ...]
    min_weight: tuple[float, ...]
    reference: int
    items: int
    too_short: tuple[str, ...]


class TestSetParts(NamedTuple):
    """One test set on its way into an index: its parts, item by item.

    Attributes:
        entry: what is known of it.
        labels, names, texts: of each part, its item's id, its own name and text; parts that were
            joined have their names on a line each.
        arrays: as in the file, but for the set's number.
        seeds: (code, n) with pairs of n-gram and part: uint64 and uint32, by n-gram, then part.
    """

    entry: TestSetEntry
    labels: list[str]
    names: list[str]
    texts: list[str]
    arrays: dict[str, Any]
    seeds: list[Pairs]

    @classmethod
    def of(
        cls,
        name: str,
        tokens: Tokens | Mapping[str, Tokens],
        items: Sequence[Item],
        *,
        min_weight: float | None,
        reference: Callable[[], Iterable[pa.Array]] | None,
    ) -> TestSetParts:
        parts = [part for item in items for part in item.parts]
        owner = np.array([at for at, item in enumerate(items) for _ in item.parts], np.int64)
        read_as = [
            tokens if isinstance(tokens, str) else tokens.get(p.name, "words") for p in parts
        ]
        kind = np.array([TOKENS.index(each) for each in read_as], np.int64)
        least = [MIN_WEIGHT[each] if min_weight is None else min_weight for each in TOKENS]
        # Equal items say no more than one.
        distinct: dict[Sequence[Part], int] = {}
        same = [distinct.setdefault(item.parts, len(distinct)) for item in items]
        owner = np.array([same[at] for at in owner.tolist()], np.int64)
        texts, weight, size = _read(parts, kind, owner, len(distinct), reference)
        alone = _mixed_and_light(items, kind, weight, least)
        if alone:
            kind[alone] = TOKENS.index("words")
            texts, weight, size = _read(parts, kind, owner, len(distinct), reference)
        groups, too_short = _joined(items, kind, weight, least)
        arrays, seeds = _arranged(groups, kind, texts)
        judged = np.array([group.judged for group in groups], dtype=np.bool_)
        arrays["item"] = np.array([group.item for group in groups], np.uint32)
        arrays["n"] = np.where(judged, arrays["n"], 0).astype(np.uint8)
        seeds_kept = _rare(seeds, judged)
        wanted = np.zeros(len(groups), np.int64)
        for _, _, part in seeds_kept:
            wanted += np.bincount(part, minlength=len(groups))
        arrays["least"] = np.maximum(1, wanted // 10).astype(np.uint32)
        entry = TestSetEntry(
            name,
            tuple(TOKENS[each] for each in texts),
            tuple(least[each] for each in texts),
            size,
            len(items),
            tuple(too_short),
        )
        return cls(
            entry,
            [items[group.item].id for group in groups],
            ["\n".join(parts[at].name for at in group.parts) for group in groups],
            ["\n".join(parts[at].text for at in group.parts) for group in groups],
            arrays,
            seeds_kept,
        )


def _read(
    parts: Sequence[Part],
    kind: Ints,
    owner: Ints,
    items: int,
    reference: Callable[[], Iterable[pa.Array]] | None,
) -> tuple[dict[int, _Texts], npt.NDArray[np.float64], int]:
    """The parts, read by their kinds; the weight of each in tokens; and the reference's texts."""
    weight = np.zeros(len(parts))
    texts: dict[int, _Texts] = {}
    size = 0
    for each in sorted({*kind.tolist()} or {0}):  # a set may have no text at all
        mine = np.flatnonzero(kind == each)
        made = texts[each] = _Texts([parts[at].text for at in mine.tolist()], each == 1)
        size = made.weigh(owner[mine], items, reference)
        weight[mine] = made.total / UNIT
    return texts, weight, size


def _mixed_and_light(
    items: Sequence[Item], kind: Ints, weight: npt.NDArray[np.float64], least: Sequence[float]
) -> list[int]:
    """The parts of items that have prose and programs, and of neither enough to be judged."""
    found: list[int] = []
    place = 0
    for item in items:
        mine = range(place, place + len(item.parts))
        place += len(item.parts)
        if len({*kind[mine.start : mine.stop].tolist()}) > 1:
            own = [at for at in mine if weight[at] >= least[kind[at]]]
            sums = [weight[[at for at in mine if kind[at] == each]].sum() for each in (0, 1)]
            if not own and all(total < enough for total, enough in zip(sums, least, strict=True)):
                found += mine
    return found


class _Group(NamedTuple):
    """What is judged as one part.

    Attributes:
        item: whose.
        parts: the parts of the set that it is made of, one or several.
        judged: whether they weigh enough.
    """

    item: int
    parts: list[int]
    judged: bool


def _joined(
    items: Sequence[Item], kind: Ints, weight: npt.NDArray[np.float64], least: Sequence[float]
) -> tuple[list[_Group], list[str]]:
    """Parts, those too light joined where that helps, in order; and the items of which nothing is
    judged, by their ids."""
    groups: list[_Group] = []
    too_short = []
    place = 0
    for number, item in enumerate(items):
        mine = range(place, place + len(item.parts))
        place += len(item.parts)
        made = []
        for each, enough in enumerate(least):
            same = [at for at in mine if kind[at] == each]
            light = [at for at in same if weight[at] < enough]
            made += [_Group(number, [at], True) for at in same if at not in light]
            if len(light) > 1 and weight[light].sum() >= enough:
                made.append(_Group(number, light, True))
            else:
                made += [_Group(number, [at], False) for at in light]
        if not any(group.judged for group in made):
            # All of a program's item may be no common phrase, though none of its parts says much.
            same = [at for at in mine if kind[at] == kind[mine.start]]
            if len(mine) > 1 and len(same) == len(mine) and weight[same].sum() >= min(least):
                made = [_Group(number, same, True)]
            else:
                too_short.append(item.id)
        groups += sorted(made, key=lambda group: group.parts)
    return groups, too_short


def _arranged(
    groups: Sequence[_Group], kind: Ints, texts: Mapping[int, _Texts]
) -> tuple[dict[str, Any], list[_Seeds]]:
    """The arrays of the groups, in order, and their n-grams."""
    made: list[dict[str, Any]] = []
    seeds: list[_Seeds] = []
    places: list[int] = []
    for each, read in texts.items():
        local = np.cumsum(kind == each) - 1
        mine = [at for at, group in enumerate(groups) if kind[group.parts[0]] == each]
        arrays, found = read.arranged([local[groups[at].parts].tolist() for at in mine])
        made.append({**arrays, "code": np.full(len(mine), each == 1)})
        seeds += [(key, gram, np.array(mine, np.int64)[owner]) for key, gram, owner in found]
        places += mine
    order = np.argsort(places)
    return _reordered(made, order), seeds


def _reordered(made: Sequence[Mapping[str, Any]], order: Ints) -> dict[str, Any]:
    """The rows of several sets of arrays, one set behind the other, in another order."""
    inner = {name: offsets for offsets, names in RAGGED.items() for name in names}
    rows: dict[str, Ints] = {}
    arrays: dict[str, Any] = {}
    for offsets in RAGGED:
        sizes = np.concatenate([np.diff(each[offsets]) for each in made])
        ends = np.cumsum(sizes)
        rows[offsets], _ = _spread((ends - sizes)[order], ends[order], order)
        arrays[offsets] = np.concatenate([[0], np.cumsum(sizes[order])]).astype(np.int64)
    for name in made[0]:
        if name not in RAGGED:
            whole = np.concatenate([each[name] for each in made])
            arrays[name] = whole[rows[inner[name]] if name in inner else order]
    return arrays


class _Texts:
    """Parts as they come, before short ones are joined.

    Attributes:
        written: their texts.
        offsets: int64, shape (parts + 1,): part i has the tokens offsets[i] to offsets[i + 1] - 1.
        hashes: uint64, shape (tokens,).
        weights: uint32, shape (tokens,), in 256ths, after :meth:`weigh`.
    """

    weights: npt.NDArray[np.uint32]

    def __init__(self, written: Sequence[str], code: bool) -> None:
        self.written, self.code = written, code
        if code:  # a program is one line, as it is: its short ones say little
            lines = [[text] for text in written]
        else:
            texts = plain(pa.array(written, pa.large_string())).to_pylist()
            lines = [_NUMBERING.sub("", text).splitlines() for text in texts]
        self._lines = [each for part in lines for each in part]
        self._line_offsets: Ints = np.cumsum([0, *(len(part) for part in lines)], dtype=np.int64)
        column = pa.array(self._lines, pa.large_string())
        tokens, _, _, self.hashes = _native.tokens(column, code=code)
        self.offsets: Ints = tokens[self._line_offsets]
        self._line_tokens = tokens
        self._grams, self._gram_hashes = _native.ngrams(column, _GRAM, code=code)
        # Where a gram begins among all tokens, and how many it has.
        line = np.repeat(np.arange(len(self._lines)), np.diff(self._grams))
        self._gram_first = tokens[line] + np.arange(len(line)) - self._grams[line]
        self._gram_length = np.minimum(np.diff(tokens), _GRAM)[line]

    def weigh(
        self,
        owner: Ints,
        items: int,
        reference: Callable[[], Iterable[pa.Array]] | None,
    ) -> int:
        """Find the weights; returns how many texts the reference has.

        Args:
            owner: shape (parts,): the item of each part.
            items: how many there are.
            reference: gives its texts, or None where there is none.
        """
        common, texts = self._common(reference) if reference else (None, 0)
        self.weights = self._weights(owner, items, common)
        return texts

    @property
    def total(self) -> Ints:
        """int64, shape (parts,): the weight of each part, in 256ths."""
        total: Ints = np.concatenate([[0], np.cumsum(self.weights, dtype=np.int64)])
        weights: Ints = np.diff(total[self.offsets])
        return weights

    def _common(
        self, reference: Callable[[], Iterable[pa.Array]]
    ) -> tuple[npt.NDArray[np.bool_], int]:
        """Flags, shape (tokens,): which ones all of whose grams are common phrases of the
        reference; and how many texts this has."""
        common = np.zeros(len(self._gram_hashes), dtype=np.bool_)
        texts = 0
        lengths = np.flatnonzero(np.bincount(self._gram_length)).tolist()
        indexes = {
            n: NgramIndex.build(self._gram_hashes[self._gram_length == n], n, code=self.code)
            for n in lengths
        }
        counts = {n: np.zeros(len(index), np.int64) for n, index in indexes.items()}
        for column in reference():
            texts += len(column)
            column = column if self.code else plain(column)
            for n, index in indexes.items():
                hits = index.query(column)
                text = np.repeat(np.arange(len(column)), np.diff(hits.offsets))
                order = np.lexsort((hits.ordinals, text))
                once = starts(text[order], hits.ordinals[order])
                np.add.at(counts[n], hits.ordinals[order][once], 1)
        for n, index in indexes.items():
            mine = np.flatnonzero(self._gram_length == n)
            place = np.searchsorted(index.hashes, self._gram_hashes[mine])
            common[mine] = counts[n][place] >= _REFERENCE_TEXTS
        said = np.zeros(len(self.hashes), dtype=np.bool_)
        for offset in range(_GRAM):
            some = ~common & (self._gram_length > offset)
            said[self._gram_first[some] + offset] = True
        return ~said, texts

    def _weights(
        self, owner: Ints, items: int, common: npt.NDArray[np.bool_] | None
    ) -> npt.NDArray[np.uint32]:
        """Weights, where ``common`` ones, shape (tokens,), weigh nothing."""
        part = np.repeat(np.arange(len(owner)), np.diff(self.offsets))
        order = np.lexsort((part, self.hashes))
        token, part = self.hashes[order], part[order]
        first = starts(token)
        size = np.diff([*first, len(token)])
        # Of each distinct token, in how many items it is; then of each token.
        by_item = np.lexsort((owner[part], token))
        items_of = starts(token[by_item], owner[part][by_item])
        frequency = np.diff([*np.searchsorted(items_of, first), len(items_of)])
        table = np.array([_weight(df, items) for df in range(items + 1)], np.int64)
        weight = np.repeat(table[frequency], size)
        # One that a part has several times shares its weight among its places.
        same = starts(token, part)
        times = np.diff([*same, len(token)])
        times = np.repeat(times, times)
        weights = np.empty(len(token), np.uint32)
        weights[order] = (2 * weight + times) // (2 * times)
        if common is not None:
            weights[common] = 0
        return weights

    def arranged(self, groups: Sequence[Sequence[int]]) -> tuple[dict[str, Any], list[_Seeds]]:
        """The arrays of parts that are made of some of these each, and their n-grams."""
        member = np.array([at for group in groups for at in group], np.int64)
        group = np.repeat(np.arange(len(groups)), [len(each) for each in groups])
        line, line_group = _spread(
            self._line_offsets[member], self._line_offsets[member + 1], group
        )
        token, token_group = _spread(
            self._line_tokens[line], self._line_tokens[line + 1], line_group
        )
        gram, gram_group = _spread(self._grams[line], self._grams[line + 1], line_group)
        token_offsets = _offsets(token_group, len(groups))
        # A gram's place in its part: where its line begins there, and its place in the line.
        size = self._line_tokens[line + 1] - self._line_tokens[line]
        begin = np.cumsum(size) - size - token_offsets[line_group]
        grams_of = self._grams[line + 1] - self._grams[line]
        position = np.repeat(begin, grams_of) + gram - np.repeat(self._grams[line], grams_of)
        order = np.lexsort((position, self._gram_hashes[gram], gram_group))
        longest = np.zeros(len(groups), np.int64)
        np.maximum.at(longest, line_group, size)
        tokens = np.diff(token_offsets)
        usual = _NGRAM["code" if self.code else "words"]
        n = np.full(len(groups), usual)
        if not self.code:
            grams_in = np.bincount(
                line_group, np.maximum(size - usual + 1, 0), minlength=len(groups)
            )
            n[grams_in < _FEW] = _SHORT_NGRAM
        n = np.minimum(n, np.maximum(tokens, 1))
        seeds = []
        for length in sorted(set(n.tolist())):
            mine = np.flatnonzero(n == length)
            whole = longest[mine] < length  # no line has as many: across its lines
            texts, owners = [], []
            for part, across in zip(mine.tolist(), whole.tolist(), strict=True):
                lines = self._lines_of(groups[part])
                texts += ["\n".join(lines)] if across else lines
                owners += [part] * (1 if across else len(lines))
            column = pa.array(texts, pa.large_string())
            enough = np.diff(_native.tokens(column, code=self.code)[0]) >= length
            offsets, grams = _native.ngrams(column, length, code=self.code)
            owner = np.repeat(np.array(owners, np.int64), np.diff(offsets))
            usable = np.repeat(enough, np.diff(offsets))
            grams, owner = grams[usable], owner[usable]
            seeds.append(((self.code, length), grams, owner))
        arrays = {
            "n": n,
            "token_offsets": token_offsets,
            "tokens": self.hashes[token],
            "weights": self.weights[token],
            "gram_offsets": _offsets(gram_group, len(groups)),
            "grams": self._gram_hashes[gram][order],
            "gram_positions": position[order].astype(np.uint32),
            "gram_lengths": self._gram_length[gram][order].astype(np.uint8),
            "member_offsets": _offsets(group, len(groups)),
            "members": np.diff(self.offsets)[member].astype(np.uint32),
        }
        return arrays, seeds

    def _lines_of(self, members: Sequence[int]) -> list[str]:
        return [
            line
            for at in members
            for line in self._lines[self._line_offsets[at] : self._line_offsets[at + 1]]
        ]


def _weight(frequency: int, items: int) -> int:
    if not frequency:
        return 0
    rarity = math.log2((items + 1) / frequency) / min(_SATURATED, math.log2(items + 1))
    return math.floor(min(1.0, rarity) * UNIT + 0.5)


def _rare(seeds: Sequence[_Seeds], judged: npt.NDArray[np.bool_]) -> list[Pairs]:
    """The n-grams that not too many parts share, and the rarest of each part; each pair once."""
    kept = []
    for key, gram, part in seeds:
        some = judged[part]
        order = np.lexsort((part[some], gram[some]))
        gram, part = gram[some][order], part[some][order]
        pairs = starts(gram, part)
        gram, part = gram[pairs], part[pairs]
        shared = np.diff([*starts(gram), len(gram)])
        shared = np.repeat(shared, shared)
        order = np.lexsort((gram, shared, part))
        begin = starts(part[order])
        rank = np.empty(len(part), np.int64)
        rank[order] = np.arange(len(part)) - np.repeat(begin, np.diff([*begin, len(part)]))
        chosen = (shared <= _COMMON) | (rank < _RAREST)
        if chosen.any():
            kept.append((key, gram[chosen], part[chosen].astype(np.uint32)))
    return kept


def plain(texts: pa.Array) -> pa.Array:
    """Texts as they are shown, each byte in its place (cleanpipe/native/plain.h)."""
    offsets, data = _native.plain_texts(texts)
    buffers = pa.py_buffer(offsets), pa.py_buffer(data)
    return pa.LargeStringArray.from_buffers(len(offsets) - 1, *buffers)


def starts(*columns: npt.NDArray[Any]) -> Ints:
    """Where rows begin that differ from the row before; the columns are sorted together."""
    size = len(columns[0])
    first = np.zeros(size, dtype=np.bool_)
    first[:1] = True
    for column in columns:
        first[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(first)


def _spread(first: Ints, end: Ints, owner: Ints) -> tuple[Ints, Ints]:
    """The numbers of ranges, one range after another, and the owner of each."""
    size = end - first
    inner = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
    return np.repeat(first, size) + inner, np.repeat(owner, size)


def _offsets(owner: Ints, owners: int) -> Ints:
    """Offsets of what belongs to each owner; ``owner`` ascends."""
    return np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=owners))]).astype(np.int64)
