"""The ``word_order`` filter: words that stand beside each other as no text has them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cleanpipe import _native
from cleanpipe.bounds import Bounds
from cleanpipe.errors import ConfigError
from cleanpipe.filters import packs, phrases
from cleanpipe.parameters import LocalPath
from cleanpipe.stage import Filter, Measures, Resource, Rule
from cleanpipe.units import Units

Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class WordOrder(Filter):
    """Drops texts whose words stand in no order, as machines shuffle or string them together.

    ``the of`` and ``is are`` stand in next to no English text, although chance alone would put
    them there all the time. A pack lists such pairs of tokens: those that chance would have put
    side by side ten times or more in clean text, and that never were. In shuffled text a few per
    cent of all pairs are among them, in clean text next to none: no model is needed to tell.

    Formula: pairs of the list over all pairs of neighbouring tokens, with nothing between them
    but at most one byte (a space); 0 where there are no pairs. Source: none; how pairs are found
    is in docs/how-to/add-a-language.md, what they find in docs/benchmarks.md.

    Parameters:
        pack: the name of a language pack that ships (``en``, ``zh``), or the path of one's YAML
            file; the pairs are in ``<pack>.pairs.txt`` beside it.
        odd_pair_share: bounds on that share. It has no default.

    Measures: ``odd_pair_share``.

    Errors: ConfigError where the list cannot be read any more when the first batch comes.
    """

    kind: ClassVar[str] = "word_order"

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
        texts = pa.array(listed, pa.large_string())
        unit, pairs = neighbours(texts)
        if len(pairs) != len(listed) or not np.array_equal(unit, np.arange(len(listed))):
            wrong = np.flatnonzero(np.bincount(unit, minlength=len(listed)) != 1)
            raise ConfigError(f'{path.written}: "{listed[wrong[0]]}" is no pair of tokens')
        return np.sort(pairs)


def neighbours(text: pa.Array) -> tuple[Places, Hashes]:
    """Every pair of neighbouring tokens: which text it is in, and its hash.

    Args:
        text: strings, shape (n,).

    Returns:
        int64 and uint64, shape (p,), in the order of the texts.
    """
    offsets, starts, ends, hashes = _native.tokens(text)
    unit = np.repeat(np.arange(len(text)), np.diff(offsets))
    near = (unit[1:] == unit[:-1]) & (starts[1:] - ends[:-1] <= 1)
    # Not the same for (a, b) and (b, a); an odd factor loses nothing.
    pairs = hashes[:-1] * np.uint64(0x9E3779B97F4A7C15) + hashes[1:]
    return unit[1:][near], pairs[near]


def pair_share(text: pa.Array, pairs: Hashes) -> npt.NDArray[np.float64]:
    """The share of each text's neighbouring tokens that are among some pairs (hashes, sorted)."""
    unit, found = neighbours(text)
    every = np.bincount(unit, minlength=len(text)).astype(np.float64)
    if not len(pairs):
        return np.zeros(len(text))
    place = np.minimum(np.searchsorted(pairs, found), len(pairs) - 1)
    odd = np.bincount(unit[pairs[place] == found], minlength=len(text))
    return np.divide(odd, every, out=np.zeros(len(text)), where=every > 0)
