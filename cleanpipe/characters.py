"""What kinds of characters texts are made of, counted in one pass."""

from __future__ import annotations

import sys
import unicodedata
from enum import IntFlag
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe.bounds import Numbers
from cleanpipe.text import buffers


class Kind(IntFlag):
    """Kinds of code points, by Unicode's general category where one is named.

    ``PRINTED`` is all but whitespace (``str.isspace``). ``VISIBLE`` is that without format
    characters (Cf: joiners, direction marks, zero-width spaces) and variation selectors, so
    that an emoji of several code points is symbols only, and zero-width filling dilutes no
    share. ``MARK`` (Mn, Mc, but no variation selector) is a vowel sign in Hindi and Thai.
    """

    PRINTED = 1
    VISIBLE = 2
    LETTER = 4  # L*
    MARK = 8
    UPPER = 16  # Lu
    DIGIT = 32  # Nd
    PUNCTUATION = 64  # P*
    SYMBOL = 128  # S*


class Kinds:
    """The kinds of all characters of n texts.

    Args:
        text: n texts without nulls; may be a slice.
    """

    def __init__(self, text: pa.LargeStringArray) -> None:
        length = np.asarray(pc.utf8_length(text), dtype=np.int64)
        self._size = len(text)
        self._filled = np.flatnonzero(length)
        self._start = (np.cumsum(length) - length)[self._filled]
        self._kind = np.empty(int(length.sum()), dtype=np.uint8)
        offsets, data = buffers(text)
        place, begin, stop = 0, int(offsets[0]), int(offsets[-1])
        while begin < stop:
            # A window at a time to bound memory, which never ends inside a character.
            end = min(begin + (1 << 20), stop)
            while end < stop and data[end] & 0xC0 == 0x80:
                end += 1
            points = data[begin:end].tobytes().decode().encode("utf-32-le")
            kind = _table()[np.frombuffer(points, np.uint32)]
            self._kind[place : place + len(kind)] = kind
            place, begin = place + len(kind), end

    def count(self, kinds: Kind) -> Numbers:
        """Code points of any of these kinds in each text: float64, shape (n,)."""
        return self._sum((self._kind & np.uint8(kinds)) != 0)

    def words(self) -> Numbers:
        """Runs of ``PRINTED``, which are the words of ``str.split()``: float64, shape (n,)."""
        printed = (self._kind & np.uint8(Kind.PRINTED)) != 0
        first = printed.copy()
        first[1:] &= ~printed[:-1]
        first[self._start] = printed[self._start]
        return self._sum(first)

    def _sum(self, flags: npt.NDArray[np.bool_]) -> Numbers:
        sums = np.zeros(self._size)
        if len(self._filled):
            sums[self._filled] = np.add.reduceat(flags, self._start, dtype=np.int64)
        return sums


_SEEN = Kind.PRINTED | Kind.VISIBLE
_OF_CATEGORY = {
    "Lu": _SEEN | Kind.LETTER | Kind.UPPER,
    **dict.fromkeys(("Ll", "Lt", "Lm", "Lo"), _SEEN | Kind.LETTER),
    **dict.fromkeys(("Mn", "Mc"), _SEEN | Kind.MARK),
    "Nd": _SEEN | Kind.DIGIT,
    **dict.fromkeys(("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"), _SEEN | Kind.PUNCTUATION),
    **dict.fromkeys(("Sm", "Sc", "Sk", "So"), _SEEN | Kind.SYMBOL),
    "Cf": Kind.PRINTED,
    **dict.fromkeys(("Me", "Nl", "No", "Zs", "Zl", "Zp", "Cc", "Cs", "Co", "Cn"), _SEEN),
}


@cache
def _table() -> npt.NDArray[np.uint8]:
    """Kinds by code point; made once a process, of Python's own version of Unicode."""
    codes = range(sys.maxunicode + 1)
    of_category = {category: int(kind) for category, kind in _OF_CATEGORY.items()}
    categories = map(unicodedata.category, map(chr, codes))
    table = np.fromiter(map(of_category.__getitem__, categories), np.uint8, len(codes))
    table[[code for code in range(0x10000) if chr(code).isspace()]] = 0
    table[0xFE00:0xFE10] = table[0xE0100:0xE01F0] = Kind.PRINTED  # variation selectors
    return table
