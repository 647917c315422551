"""Folding text for comparison, and the way back to where it stood. Not a stage."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from pathlib import Path

from cleanpipe.filters.forms import normalized

_DATA = Path(__file__).parent / "data"


def fold(text: str) -> str:
    """Width, case and compatibility forms made equal: NFKC, simple case folding, NFKC.

    Simple folding makes one character of one, as for tokens (docs/tokens.md): ``ß`` is not
    ``ss``. A Turkish capital ``İ`` folds to ``i``. Line breaks stay where they are, and none
    appears.
    """
    if text.isascii():
        return text.lower()
    # Split at such characters: every second part is one.
    parts = _widening().split(normalized("NFKC", text))
    parts[::2] = map(str.casefold, parts[::2])
    parts[1::2] = map(str.lower, parts[1::2])
    return normalized("NFKC", "".join(parts).replace("i\u0307", "i"))


@cache
def _widening() -> re.Pattern[str]:
    """A character whose full case folding is longer than it is."""
    longer = (char for char in map(chr, range(0x20000)) if len(char.casefold()) > 1)
    return re.compile(f"([{''.join(longer)}])")


def simplified(text: str) -> str:
    """Traditional Chinese characters of a text as simplified ones, each by itself.

    One character becomes one: places stay what they are. No words are looked at, so those that
    are written alike only in one of the two are made equal too (``乾``, ``幹`` and ``干``), and
    Japanese characters are read as Chinese. The table is OpenCC's, filters/data/NOTICE.md.
    """
    if text.isascii():
        return text
    traditional, table = _simplified()
    return traditional.sub(lambda found: table[found[0]], text)


@cache
def _simplified() -> tuple[re.Pattern[str], dict[str, str]]:
    lines = (_DATA / "simplified.txt").read_text(encoding="utf-8").splitlines()
    table = dict(line.split("\t") for line in lines)
    return re.compile(f"[{''.join(table)}]"), table


class FoldedLine:
    """A folded text that knows which characters each of its own came from.

    Folding joins, splits and reorders characters only within a *cluster*: a character and
    the marks and vowels behind it that may combine with it. So a place in the folded text is
    known as exactly as clusters allow, and a part of one stands for the whole.

    Attributes:
        original: the text before.
        folded: ``fold(original)``.
    """

    def __init__(self, original: str) -> None:
        self.original = original
        self.folded = fold(original)
        self._starts: list[int] | None = None
        if not _one_to_one(original):
            self._starts, pieces = [], []
            for start, cluster in _clusters(original):
                piece = _fold_cluster(cluster)
                pieces.append(piece)
                self._starts += [start] * len(piece)
            self._starts.append(len(original))
            self.folded = "".join(pieces)

    def splits(self, place: int) -> bool:
        """Whether a place in the folded text lies inside a cluster, and so nowhere before."""
        starts = self._starts
        return starts is not None and place > 0 and starts[place] == starts[place - 1]

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Where the folded characters [start, end), at least one, stood in the original."""
        if self._starts is None:
            return start, end
        while self.splits(end):
            end += 1
        return self._starts[start], self._starts[end]


def _one_to_one(text: str) -> bool:
    """Whether character i of the folded text comes from character i, and from no other."""
    return text.isascii() or all(
        _begins_cluster(char) and len(_fold_cluster(char)) == 1 for char in set(text)
    )


def _clusters(text: str) -> list[tuple[int, str]]:
    """The parts of a text that fold each by itself, with where they start."""
    starts = [at for at, char in enumerate(text) if at == 0 or _begins_cluster(char)]
    ends = starts[1:] + [len(text)]
    return [(start, text[start:end]) for start, end in zip(starts, ends, strict=True)]


@lru_cache(maxsize=1 << 14)
def _fold_cluster(cluster: str) -> str:
    return fold(cluster)


@lru_cache(maxsize=1 << 14)
def _begins_cluster(char: str) -> bool:
    """Whether normalisation never joins a character with the one before it.

    Those that are joined are marks, the vowels and finals of Hangul, and the vowels of Kirat
    Rai (Unicode 16): a test compares this with every composition Unicode has.
    """
    first = unicodedata.normalize("NFKD", char)[0]
    return not (
        unicodedata.category(first)[0] == "M"
        or "\u1160" <= first <= "\u11ff"
        or "\U00016d63" <= first <= "\U00016d6a"
    )
