"""Paragraphs, lines and sentences: what they are, where they lie, and how to take some out.

Whitespace is what ``str.isspace`` calls so; only ``\\n`` ends a line. A unit has something
visible in it, units are ordered and do not overlap, and all that is visible is in one.

line
    From after ``\\n`` to before the next, less whitespace at its end (so the ``\\r`` of
    CRLF belongs to the separator). Indentation is part of it: it goes when the line goes.
paragraph
    Lines up to the next blank line. A document that has no blank line between lines is
    read as one paragraph a line.
sentence
    Within a line, less whitespace at both ends, up to and with

    - ``.``, ``!``, ``?`` or a row of these, then closing quotes and brackets, if whitespace
      or the end of the line follows: in ``3.14``, ``a.b`` or ``v1.0!x`` nothing ends;
    - 。！？… and the marks of other scripts that mean nothing else (``WIDE``), then closing
      quotes and brackets, whatever follows: these scripts put no space there.

    A single ``.`` ends nothing after an initial (a capital below U+0800 with no letter,
    digit or character beyond ASCII before it: ``J. Smith``, ``U.S. Army``), after a
    letter below U+0800 that itself follows a full stop (``e.g. this``), or after
    ``TITLES``. That is all it knows of abbreviations: ``etc. And`` is taken as an end,
    ``Vitamin C. It`` is not. Thai, Lao and others without marks end at line ends only.

Everything is one pass over the Arrow bytes in numpy, whatever the text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

SubUnit: TypeAlias = Literal["paragraph", "line", "sentence"]
Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]
_Flags = npt.NDArray[np.bool_]

WIDE = "。！？…｡‼⁇⁈⁉।॥؟۔։።၊။។៕"
"""Marks that end a sentence without whitespace after them."""
CLOSING = "\"')]}”’»›」』）】》〉〕〗〙〛］｝｣＂＇"
"""Quotes and brackets that still belong to the sentence before them."""
CLOSING_BEFORE_SPACE = "“‘«‹"
"""Closing in German, Czech, Danish; taken so only where whitespace follows."""
TITLES = ("Mr", "Mrs", "Ms", "Dr", "Prof", "St")

# Classes of a character, given to each of its bytes.
_OTHER, _SPACE, _NEWLINE, _STOP, _WIDE, _CLOSE, _CLOSE_BEFORE_SPACE = range(7)


def whitespace_words(text: str) -> list[str]:
    """Words as papers on spaced languages count them: runs of what is not whitespace."""
    return text.split()


@dataclass(frozen=True)
class Segments:
    """Units of n texts, in order.

    Attributes:
        text: the texts they lie in, shape (n,).
        document: int64, shape (s,): which text each is in, ascending.
        start, end: int64, shape (s,): byte offsets in that text's UTF-8.
    """

    text: pa.LargeStringArray
    document: Offsets
    start: Offsets
    end: Offsets

    def __len__(self) -> int:
        return len(self.document)

    @cached_property
    def texts(self) -> pa.LargeStringArray:
        """The units themselves, large_string, shape (s,)."""
        if not len(self):
            return pa.array([], pa.large_string())
        offsets, _ = buffers(self.text)
        # Units and the gaps between them alternate: valid offsets over the same bytes.
        both = np.empty(2 * len(self), dtype=np.int64)
        both[0::2] = self.start + offsets[self.document]
        both[1::2] = self.end + offsets[self.document]
        every = pa.LargeStringArray.from_buffers(
            len(both) - 1,
            pa.py_buffer(both),
            self.text.buffers()[2],
        )
        return every.take(pa.array(np.arange(0, len(both), 2), pa.int64()))

    def counts(self) -> Offsets:
        """How many units each text has: int64, shape (n,)."""
        return np.bincount(self.document, minlength=len(self.text)).astype(np.int64)


def buffers(text: pa.LargeStringArray) -> tuple[Offsets, Bytes]:
    """What an Arrow array holds, without a copy: offsets, shape (n + 1,), into these bytes.

    A slice has its own offsets, but all the bytes of the array it was cut from.
    """
    _, offsets, data = text.buffers()
    bytes_ = np.frombuffer(data or b"", np.uint8)
    if not len(text):  # may have no buffers at all
        return np.zeros(1, dtype=np.int64), bytes_
    window = np.frombuffer(offsets, np.int64, len(text) + 1, 8 * text.offset)
    return window, bytes_


def segments(text: pa.LargeStringArray, unit: SubUnit) -> Segments:
    """Find the units of each text.

    Args:
        text: n texts without nulls; may be a slice.
        unit: which units; this module's docstring defines them.
    """
    offsets, data = buffers(text)
    data, offsets = data[offsets[0] : offsets[-1]], offsets - offsets[0]
    found = [np.zeros((2, 0), dtype=np.int64)]
    for begin, end in _windows(data, offsets):
        texts = offsets[(offsets >= begin) & (offsets < end)]
        runs = _Runs(data[begin:end], texts - begin, sentences=unit == "sentence")
        found.append(np.stack(runs.sentences() if unit == "sentence" else runs.lines()) + begin)
    start, stop = np.concatenate(found, axis=1)
    document = np.searchsorted(offsets, start, side="right") - 1
    if unit == "paragraph":
        first, last = _paragraphs(document, start, stop, data)
        document, start, stop = document[first], start[first], stop[last]
    return Segments(text, document, start - offsets[document], stop - offsets[document])


_WINDOW = 1 << 20


def _windows(data: Bytes, offsets: Offsets) -> Iterator[tuple[int, int]]:
    """Cut between texts or lines, to bound memory: about a MiB each, or one line."""
    cuts = np.concatenate([np.flatnonzero(data == ord("\n")) + 1, offsets])
    cuts.sort(kind="stable")  # two sorted halves: one merge
    begin = 0
    while begin < len(data):
        place = int(np.searchsorted(cuts, begin + _WINDOW, side="right")) - 1
        end = int(cuts[place] if cuts[place] > begin else cuts[place + 1])
        yield begin, end
        begin = end


def _paragraphs(
    document: Offsets, start: Offsets, end: Offsets, data: Bytes
) -> tuple[_Flags, _Flags]:
    """Which lines are the first and the last of a paragraph."""
    newline = np.flatnonzero(data == ord("\n"))
    between = np.searchsorted(newline, start[1:]) - np.searchsorted(newline, end[:-1])
    other = document[1:] != document[:-1]
    blank = ~other & (between >= 2)
    has_blank = np.zeros(int(document[-1]) + 1 if len(document) else 0, dtype=np.bool_)
    has_blank[document[1:][blank]] = True
    first = np.ones(len(start), dtype=np.bool_)
    first[1:] = other | blank | ~has_blank[document[1:]]
    last = np.ones(len(start), dtype=np.bool_)
    last[:-1] = first[1:]
    return first, last


class _Runs:
    """Bytes of some texts as maximal runs of one class; a run never crosses texts."""

    def __init__(self, data: Bytes, texts: Offsets, sentences: bool) -> None:
        self.data = data
        first = np.zeros(len(data), dtype=np.bool_)
        first[0] = True
        first[texts] = True
        kinds = _classes(data, first, _SENTENCE_MARKS if sentences else _SPACES)
        change = first.copy()
        change[1:] |= kinds[1:] != kinds[:-1]
        self.start: Offsets = np.flatnonzero(change)
        self.end: Offsets = np.append(self.start[1:], len(data))
        self.kind = kinds[self.start]
        self.first: _Flags = first[self.start]
        """Whether a run is the first of its text."""
        self.last: _Flags = np.append(self.first[1:], True)

    def _after(self, flags: _Flags) -> _Flags:
        """The runs after these, and the first of each text."""
        after = self.first.copy()
        after[1:] |= flags[:-1]
        return after

    def _pieces(self, opens: _Flags) -> tuple[Offsets, Offsets]:
        """First and last visible run of every piece that has one; ``opens`` starts pieces."""
        visible = np.flatnonzero((self.kind != _SPACE) & (self.kind != _NEWLINE))
        piece = np.cumsum(opens)[visible]
        new = np.ones(len(visible) + 1, dtype=np.bool_)
        new[1:-1] = piece[1:] != piece[:-1]
        return visible[new[:-1]], visible[new[1:]]

    def lines(self) -> tuple[Offsets, Offsets]:
        opens = self._after(self.kind == _NEWLINE)
        head, tail = self._pieces(opens)
        # Back to the run that opened the line, so that indentation is in it.
        opener = np.maximum.accumulate(np.where(opens, self.start, 0))
        return opener[head], self.end[tail]

    def sentences(self) -> tuple[Offsets, Offsets]:
        kind = self.kind
        after = np.append(kind[1:], _NEWLINE)
        after[self.last] = _NEWLINE
        mark = (kind == _STOP) | (kind == _WIDE)
        # A row of marks, such as ？！ or ?!…, is one mark: wide if any of it is.
        row = np.cumsum(self._after(~mark))
        wide = np.bincount(row[kind == _WIDE], minlength=int(row[-1]) + 1) > 0
        row_end = mark & (after != _STOP) & (after != _WIDE)
        closed = row_end & (after == _CLOSE)
        beyond = np.where(closed, np.append(after[1:], _NEWLINE), after)
        ends = row_end & (wide[row] | (beyond == _SPACE) | (beyond == _NEWLINE))
        stop = np.flatnonzero(ends & (kind == _STOP) & (self.end - self.start == 1) & ~closed)
        ends[stop[self._abbreviates(stop)]] = False
        done = (kind == _NEWLINE) | (ends & ~closed)
        done[1:] |= (ends & closed)[:-1]
        head, tail = self._pieces(self._after(done))
        return self.start[head], self.end[tail]

    def _abbreviates(self, stop: Offsets) -> _Flags:
        """Which of these runs, each one ``.`` or other single stop, follow an abbreviation."""
        at = self.start[stop]
        text = np.maximum.accumulate(np.where(self.first, self.start, 0))[stop]

        def before(place: Offsets) -> Bytes:
            inside = place >= text
            return np.where(inside, self.data[np.maximum(place, 0)], ord(" ")).astype(np.uint8)

        last, lead = before(at - 1), before(at - 2)
        two = (last & 0xC0) == 0x80
        code = np.where(two, ((lead & 0x1F).astype(np.int64) << 6) | (last & 0x3F), last)
        # In a character of three bytes or more ``lead`` is no lead byte of two.
        code[two & ((lead & 0xE0) != 0xC0)] = 0
        previous = before(at - 1 - np.where(two, 2, 1))
        letter, capital = _LETTERS[code] > 0, _LETTERS[code] == 2
        found: _Flags = letter & (previous == ord("."))
        found |= capital & ~_WORD[previous]
        for title in TITLES:
            same = ~_WORD[before(at - len(title) - 1)]
            for place, letter_ in enumerate(title.encode()):
                same &= before(at - len(title) + place) == letter_
            found |= same
        found &= self.data[at] == ord(".")
        return found


_ASCII_CLASSES = np.array(
    [
        _NEWLINE
        if character == "\n"
        else _SPACE
        if character.isspace()
        else _STOP
        if character in ".!?"
        else _CLOSE
        if character in CLOSING
        else _OTHER
        for character in map(chr, range(128))
    ]
    + [_OTHER] * 128,
    dtype=np.uint8,
)
_Marks: TypeAlias = tuple[_Flags, Bytes]


def _marks(classes: dict[str, int]) -> _Marks:
    """Which bytes such a character begins with, and the class by code point."""
    leads, table = np.zeros(256, dtype=np.bool_), np.zeros(0x10000, dtype=np.uint8)
    for character, kind in classes.items():
        leads[character.encode()[0]] = True
        table[ord(character)] = kind
    return leads, table


_SPACE_CLASSES = {chr(code): _SPACE for code in range(128, 0x10000) if chr(code).isspace()}
_SPACES = _marks(_SPACE_CLASSES)
_SENTENCE_MARKS = _marks(
    {
        **_SPACE_CLASSES,
        **dict.fromkeys(WIDE, _WIDE),
        **{character: _CLOSE for character in CLOSING if not character.isascii()},
        **dict.fromkeys(CLOSING_BEFORE_SPACE, _CLOSE_BEFORE_SPACE),
    }
)
# Of code points below U+0800, which UTF-8 writes in two bytes at most: 1 letter, 2 capital.
_LETTERS = np.array(
    [
        2 if category == "Lu" else 1 if category.startswith("L") else 0
        for category in map(unicodedata.category, map(chr, range(0x800)))
    ],
    dtype=np.uint8,
)
# Bytes that continue a word to the left: what stands behind them is no initial.
_WORD = np.array([byte >= 128 or chr(byte).isalnum() for byte in range(256)])


def _classes(data: Bytes, first: _Flags, marks: _Marks) -> Bytes:
    """The class of each byte's character.

    Args:
        first: which bytes begin a text.
        marks: the characters beyond ASCII that have a class.
    """
    kinds = _ASCII_CLASSES[data]
    leads, table = marks
    place = np.flatnonzero(leads[data])
    if not len(place):
        return kinds
    lead = data[place].astype(np.int32)
    second = data[place + 1].astype(np.int32) & 0x3F
    long = lead >= 0xE0  # three bytes: no mark has more
    third = data[np.where(long, place + 2, place)].astype(np.int32) & 0x3F
    code = np.where(long, (lead & 15) << 12 | second << 6 | third, (lead & 31) << 6 | second)
    kind = table[code]
    place, kind, long = place[kind > 0], kind[kind > 0], long[kind > 0]

    def write(rows: _Flags) -> None:
        kinds[place[rows]] = kind[rows]
        kinds[place[rows] + 1] = kind[rows]
        kinds[place[rows & long] + 2] = kind[rows & long]

    write(kind != _CLOSE_BEFORE_SPACE)
    # These are closing only before whitespace, which is known by now, or where a text ends.
    unsure = kind == _CLOSE_BEFORE_SPACE
    after = place + np.where(long, 3, 2)
    follows = np.append(kinds, _NEWLINE)[after]
    spaced = (follows == _SPACE) | (follows == _NEWLINE) | np.append(first, True)[after]
    kind[unsure & spaced] = _CLOSE
    kind[kind == _CLOSE_BEFORE_SPACE] = _OTHER
    write(unsure)
    return kinds


def removal_ranges(units: Segments, removed: _Flags) -> tuple[Offsets, Offsets]:
    """Which bytes to cut from the texts so that some units go; nothing is ever added.

    Around each run of removed units one separator stays: the one with the most newlines
    of all the gaps before, in and after the run, the first of equals. A run at the
    beginning or the end of its text takes all its separators with it.

    Args:
        units: all units of the texts, shape (s,).
        removed: which of them go, shape (s,).

    Returns:
        start and end, int64, byte offsets in the text, one range a removed unit:
        ascending, not overlapping. What they leave of a text are its kept units, each
        whole, and separators of its own; where all units go, nothing.
    """
    gone = np.flatnonzero(removed)
    if not len(gone):
        return gone, gone
    offsets, data = buffers(units.text)
    origin, limit = offsets[units.document], offsets[units.document + 1]
    start, end = units.start + origin, units.end + origin
    new_text = np.append(True, units.document[1:] != units.document[:-1])
    last_of_text = np.append(new_text[1:], True)
    # Gap g lies before unit g; at the edges of a text it counts as the strongest.
    left = np.where(new_text, origin, np.append(0, end[:-1]))
    right = np.where(last_of_text, limit, np.append(start[1:], 0))
    base = int(offsets[0])
    newline = np.flatnonzero(data[base : int(offsets[-1])] == ord("\n")) + base
    strength = np.searchsorted(newline, start) - np.searchsorted(newline, left)
    strength[new_text] = len(newline) + 1
    strength = np.append(strength, len(newline) + 1)

    begins = np.append(True, (np.diff(gone) > 1) | new_text[gone[1:]])
    low, high = gone[begins], gone[np.append(begins[1:], True)]
    # The first of the strongest gaps low..high + 1: in one key, so that one maximum finds it.
    size = len(strength) + 1
    key = np.append(strength * size - np.arange(len(strength)), 0)
    bounds = np.stack([low, high + 2], axis=1).ravel()
    kept_gap = -np.maximum.reduceat(key, bounds)[::2] % size

    # Up to the kept gap each unit takes the gap before it along, from there on the one after.
    before = gone < np.repeat(kept_gap, high - low + 1)
    first = np.where(before | new_text[gone], left[gone], start[gone])
    last = np.where(before & ~last_of_text[gone], end[gone], right[gone])
    return first - origin[gone], last - origin[gone]
