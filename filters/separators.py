"""Words with something put between their characters: ``b.a.d``, ``坏*词``. Not a stage.

A *separator* is one mark between two characters that are neither white space nor marks of this
kind: ``. · • * - _ + / | \\ ~ ^ # = & @``, hyphens, arrows, shapes and emoji, full-width ones
too. Space is none, nor are marks that divide sentences (``, ; : ! ?`` and the Chinese ones):
they stand between ordinary words. *Filling* is what cannot be seen (format characters such as the
zero-width space and the soft hyphen, variation selectors).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from cleanpipe.filters.boundaries import in_token, unspaced
from cleanpipe.patterns import compiled

_ASCII = "*-_.+/|\\~^#=&@"
_MARKS = re.escape(_ASCII + "".join(chr(ord(mark) + 0xFEE0) for mark in _ASCII)) + (
    "\u00b7\u2010\u2011\u2013\u2022\u2190-\u2bff\U0001f300-\U0001faff"
)
_FILLING = (
    "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u206a-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0100-\U000e01ef"
)
_LETTER = rf"[^\s{_MARKS}{_FILLING}]"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
# A mark may stand behind a letter; a phrase of three letters has one between two separators.
_CANDIDATE = (
    rf"[{_FILLING}]|[{_MARKS}]{_LETTER}{{1,2}}[{_MARKS}]"
    rf"|[{_UNSPACED}][{_MARKS}]{_LETTER}|{_LETTER}[{_MARKS}][{_UNSPACED}]"
)
_GAP = re.compile(
    rf"(?<={_LETTER})(?:[{_FILLING}]*([{_MARKS}])[{_FILLING}]*|[{_FILLING}]+)(?={_LETTER})"
)


def candidates(text: str) -> Iterator[tuple[int, int]]:
    """The lines, as [start, end), that may hold a word with something between its characters."""
    data = text.encode()
    search = compiled(_CANDIDATE).search
    begin = place = 0  # of a line: in bytes, and in characters
    while (found := search(data, begin)) is not None:
        start = max(begin, data.rfind(b"\n", begin, found.start()) + 1)
        end = data.find(b"\n", found.end())
        end = len(data) if end < 0 else end
        first = place + len(data[begin:start].decode())
        place = first + len(data[start:end].decode())
        yield first, place
        begin = end


class Squeezed:
    """A line without separators and filling, that knows where they were.

    Attributes:
        text: what is left of it.
    """

    def __init__(self, line: str) -> None:
        parts: list[str] = []
        places: list[int] = []
        last = 0
        self._marked: set[int] = set()
        self._filled: set[int] = set()
        for gap in _GAP.finditer(line):
            parts.append(line[last : gap.start()])
            places += range(last, gap.start())
            (self._filled if gap[1] is None else self._marked).add(len(places))
            last = gap.end()
        self.text = "".join((*parts, line[last:]))
        self._places = [*places, *range(last, len(line))]

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Where its characters [start, end), at least one, stood in the line."""
        return self._places[start], self._places[end - 1] + 1

    def spells(self, start: int, end: int) -> bool:
        """Whether something was put between the characters [start, end) on purpose.

        That is a separator between each two letters, three at least, or two of a script without
        spaces; not between digits alone, which are decimals and dates; or filling anywhere.
        """
        inner = range(start + 1, end)
        marked = [place for place in inner if place in self._marked]
        if not marked:
            return any(place in self._filled for place in inner)
        text = self.text
        inside = [
            place
            for place in inner
            if in_token(text[place - 1])
            and in_token(text[place])
            and unicodedata.category(text[place])[0] != "M"
        ]
        if marked != inside or all(char.isdigit() for char in text[start:end]):
            return False
        return len(inside) > 1 or unspaced(text[start]) or unspaced(text[end - 1])
