"""The ``word_order`` filter: words that stand beside each other as no text has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe import _native
from cleanpipe.bounds import Bounds
from cleanpipe.errors import ConfigError
from cleanpipe.filters import packs, phrases
from cleanpipe.parameters import LocalPath
from cleanpipe.stage import Filter, Measures, Resource, Rule
from cleanpipe.text import buffers
from cleanpipe.units import Units

Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]

MARK = np.uint64(0)
"""What stands for a mark between tokens."""

_ODD = np.uint64(0x9E3779B97F4A7C15)  # So multiplied, no hash is lost.
_SIEVE = np.uint64(1 << 18)
_SPACES = np.isin(np.arange(256), np.frombuffer(b" \t\r\n", np.uint8))
_OTHER_SPACES = "[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"
_INVISIBLE = "[\u00ad\u200b\u2060\ufeff]"
_HEADS = np.zeros(1 << 16, np.bool_)
"""The first two bytes of any of these."""
_HEADS[[0xC2A0, 0xC2AD, 0xE19A, 0xE280, 0xE281, 0xE380, 0xEFBB]] = True


@dataclass(frozen=True)
class WordOrder(Filter):
    """Drops texts whose words stand in no order, as machines shuffle or string them together.

    ``the of`` and ``is are`` stand in next to no English text, and no clause ends in ``the``,
    although chance alone would have it so all the time. A pack lists such pairs of neighbours:
    those that chance would have put side by side ten times or more in clean text, and that were
    there less than a fifth as often. In shuffled text several per cent of all pairs are among
    them, in clean text next to none: no model is needed to tell.

    Formula: pairs of the list over all pairs of neighbours; 0 where there are none. Neighbours
    are two tokens with nothing between them but at most one space; a token and the mark behind
    it; a mark and the next token. All marks are one. No-break and other spaces are spaces, and
    soft hyphens and zero-width spaces are nothing. Source: none; how pairs are found is in
    docs/how-to/add-a-language.md, what they find in docs/benchmarks.md.

    Parameters:
        pack: the name of a language pack that ships (``en``, ``zh``), or the path of one's YAML
            file; the pairs are in ``<pack>.pairs.txt`` beside it.
        odd_pair_share: bounds on that share. It has no default.

    Measures: ``odd_pair_share``.

    Errors: ConfigError where the list cannot be read any more when the first batch comes.
    """

    kind: ClassVar[str] = "word_order"
    version: ClassVar[int] = 2

    pack: LocalPath
    odd_pair_share: Bounds

    def resources(self) -> tuple[Resource, ...]:
        """The list of pairs."""
        try:
            return (Resource(packs.pairs_of(self.pack)),)
        except ConfigError:  # a fault by itself, which `check` tells
            return ()

    def check(self) -> Iterable[tuple[str, str]]:
        """A pack that is not there, a line of its list that is no pair."""
        try:
            _ = self._pairs
        except ConfigError as error:
            yield "pack", str(error)

    def rules(self) -> tuple[Rule, ...]:
        """One rule on ``odd_pair_share``."""
        return (Rule("odd_pair_share", "odd_pair_share", self.odd_pair_share),)

    def measure(self, units: Units) -> Measures:
        """One look-up a pair of neighbours."""
        return {"odd_pair_share": pair_share(units.text, self._pairs)}

    @cached_property
    def _pairs(self) -> Hashes:
        path = packs.pairs_of(self.pack)
        listed, faults = phrases.read(path)
        if faults:
            raise ConfigError("; ".join(faults))
        return pairs_of(listed, path.written)


def neighbours(text: pa.Array) -> tuple[Places, Hashes]:
    """Every pair of neighbours: which text it is in, and its hash.

    Args:
        text: large_string, shape (n,).

    Returns:
        int64 and uint64, shape (p,), in no order that means anything.
    """
    text = _with_plain_spaces(text)
    offsets, starts, ends, hashes = _native.tokens(text)
    unit = np.repeat(np.arange(len(text)), np.diff(offsets))
    _, places, data = text.buffers()
    first = np.frombuffer(places, np.int64)[text.offset : text.offset + len(text)]
    content = np.frombuffer(data or b"\0", np.uint8)
    same = unit[1:] == unit[:-1]
    gap = starts[1:] - ends[:-1]
    behind = content[np.minimum(first[unit[:-1]] + ends[:-1], len(content) - 1)]
    spaced = _SPACES[behind]
    near = same & ((gap == 0) | (gap == 1) & spaced)
    mark = same & (gap > 0) & ~spaced
    left, right, here = hashes[:-1], hashes[1:], unit[1:]
    pairs = (pair(left[near], right[near]), pair(left[mark], MARK), pair(MARK, right[mark]))
    return np.concatenate([here[near], here[mark], here[mark]]), np.concatenate(pairs)


def _with_plain_spaces(text: pa.Array) -> pa.Array:
    """The texts with spaces for other spaces, and without what is invisible."""
    offsets, data = buffers(text)
    content = data[offsets[0] : offsets[-1]]
    places = np.flatnonzero(content[:-1] >= 0xC2)  # what begins beyond ASCII: few of most texts
    heads = content[places].astype(np.uint16) << 8 | content[places + 1]
    found = places[_HEADS[heads]] + offsets[0]
    rows = np.unique(np.searchsorted(offsets, found, side="right") - 1)
    if not len(rows):
        return text
    some = pc.replace_substring_regex(text.take(pa.array(rows)), _OTHER_SPACES, " ")
    some = pc.replace_substring_regex(some, _INVISIBLE, "")
    index = np.arange(len(text))
    index[rows] = len(text) + np.arange(len(rows))
    return pa.concat_arrays([text, some]).take(pa.array(index))


def pair(left: Hashes | np.uint64, right: Hashes | np.uint64) -> Hashes:
    """The hash of a pair; not the same for (a, b) and (b, a)."""
    with np.errstate(over="ignore"):
        return np.asarray(left * _ODD + right, np.uint64)


def pairs_of(lines: Sequence[str], file: str) -> Hashes:
    """The hashes of pairs as lists have them, sorted: two tokens, or one and a comma for a mark.

    Errors: ConfigError with the first line that is no pair.
    """
    words = [line.split(" ") for line in lines]
    flat = [word for line in words for word in line]
    offsets, _, _, hashes = _native.tokens(pa.array(flat, pa.large_string()))
    counts = np.diff(offsets)
    value = np.full(len(flat), MARK, np.uint64)
    value[counts == 1] = hashes[offsets[:-1][counts == 1]]
    sound = (counts == 1) | np.array([word == "," for word in flat], np.bool_)
    at = 0
    for line in words:
        if len(line) != 2 or not sound[at : at + 2].all() or line == [",", ","]:
            raise ConfigError(f'{file}: "{" ".join(line)}" is no pair of tokens')
        at += 2
    return np.sort(pair(value[::2], value[1::2]))


def pair_share(text: pa.Array, pairs: Hashes) -> npt.NDArray[np.float64]:
    """The share of each text's neighbours that are among some pairs (hashes, sorted)."""
    unit, found = neighbours(text)
    if not len(pairs):
        return np.zeros(len(text))
    every = np.bincount(unit, minlength=len(text)).astype(np.float64)
    # Few are listed: a table of their last bits tells which are worth looking up.
    listed = np.zeros(_SIEVE, np.bool_)
    listed[pairs % _SIEVE] = True
    some = np.flatnonzero(listed[found % _SIEVE])
    place = np.minimum(np.searchsorted(pairs, found[some]), len(pairs) - 1)
    odd = np.bincount(unit[some[pairs[place] == found[some]]], minlength=len(text))
    return np.divide(odd, every, out=np.zeros(len(text)), where=every > 0)
