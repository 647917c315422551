"""In which of many texts a list may have a match: one search of all at once. Not a stage.

Most texts have none, and to fold and search each by itself costs more than all else about it.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe.filters.folding import fold, simplified
from cleanpipe.text import buffers

Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Points = npt.NDArray[np.uint32]

_UNKNOWN, _OTHERS = np.uint32(0xFFFFFFFF), np.uint32(0xFFFFFFFE)


class Folded:
    """Texts, folded and simplified, one after another, but for those that need a closer look.

    Attributes:
        data: UTF-8 of the folded texts.
        start: int64, shape (m + 1,): where each of them starts in it.
        rows: int64, shape (m,): which texts these are.
        others: int64: the texts left out, in which folding joins, splits or moves characters.
    """

    def __init__(self, text: pa.LargeStringArray) -> None:
        ascii = pc.string_is_ascii(text)
        self.rows, self.others = np.flatnonzero(ascii), np.zeros(0, np.int64)
        every = len(self.rows) == len(text)
        offsets, data = buffers(text if every else text.filter(ascii))
        self.data = data[offsets[0] : offsets[-1]].tobytes().lower()
        self.start = offsets - offsets[0]
        if not every:
            self._fold(text, np.flatnonzero(pc.invert(ascii)))

    def _fold(self, text: pa.LargeStringArray, rows: Places) -> None:
        """Texts beyond ASCII: each character by a table."""
        some = text.take(pa.array(rows))
        offsets, data = buffers(some)
        encoded = str(data[offsets[0] : offsets[-1]].tobytes(), "utf-8").encode("utf-32-le")
        folded = _simple(np.frombuffer(encoded, np.uint32))
        ends = np.cumsum(np.asarray(pc.utf8_length(some)))
        of = np.repeat(np.arange(len(rows)), np.diff(ends, prepend=0))
        odd = np.zeros(len(rows), np.bool_)
        odd[of[folded == _OTHERS]] = True
        folded = folded[~odd[of]]
        width = np.ones(len(folded), np.int64)
        for least in (0x80, 0x800, 0x10000):
            width += folded >= least
        sizes = np.bincount(of[~odd[of]], width, len(rows)).astype(np.int64)[~odd]
        self.data += folded.tobytes().decode("utf-32-le").encode()
        self.start = np.concatenate([self.start, self.start[-1] + np.cumsum(sizes)])
        self.rows, self.others = np.concatenate([self.rows, rows[~odd]]), rows[odd]

    def whole(self, starts: Places, ends: Places) -> Places:
        """Which texts have one of these ranges of :attr:`data` in them where no letter or digit of
        ASCII goes on over its ends; in no order, some twice."""
        of = np.searchsorted(self.start, starts, side="right") - 1
        low, high = self.start[of], self.start[of + 1]
        whole = (ends <= high) & ~self._closed(starts, low, high) & ~self._closed(ends, low, high)
        found: Places = self.rows[of[whole]]
        return found

    def _closed(self, places: Places, low: Places, high: Places) -> Flags:
        content = np.frombuffer(self.data, np.uint8)
        before = _WORD[content[np.maximum(places - 1, 0)]]
        behind = _WORD[content[np.minimum(places, len(content) - 1)]]
        closed: Flags = (low < places) & (places < high) & before & behind
        return closed


_WORD = np.array([byte < 0x80 and chr(byte).isalnum() for byte in range(256)])


def _simple(points: Points) -> Points:
    """What each character folds to, for those that fold to one, whatever stands beside them."""
    table = _table()
    folded = table[points]
    unknown = np.unique(points[folded == _UNKNOWN])
    if not len(unknown):
        return folded
    for point in unknown.tolist():
        char = chr(point)
        put = simplified(fold(char))
        simple = len(put) == 1 and _stands_alone(char) and _stands_alone(put)
        table[point] = ord(put) if simple else _OTHERS
    return table[points]


def _stands_alone(char: str) -> bool:
    """Whether normalisation neither joins a character with the one before it nor moves it."""
    first = unicodedata.normalize("NFKD", char)[0]
    return not unicodedata.combining(first) and first not in _joined()


@cache
def _joined() -> frozenset[str]:
    """Characters that are joined with one before them: second parts, and vowels and finals of
    Hangul, which are composed by rule."""
    parts = (unicodedata.decomposition(char).split() for char in map(chr, range(0x30000)))
    second = (chr(int(part[1], 16)) for part in parts if len(part) == 2 and part[0][0] != "<")
    return frozenset(second) | frozenset(map(chr, range(0x1160, 0x1200)))


@cache
def _table() -> Points:
    """Filled as characters come up: to fold all of them takes a second."""
    return np.full(0x110000, _UNKNOWN, np.uint32)
