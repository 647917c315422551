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
    - 。！？… and the marks of other scripts that mean nothing else (｡‼⁇⁈⁉।॥؟۔։።၊။។៕), then
      closing quotes and brackets, whatever follows: these scripts put no space there.

    A single ``.`` ends nothing after an initial (a capital below U+0800 with no letter,
    digit or character beyond ASCII before it: ``J. Smith``, ``U.S. Army``), after a
    letter below U+0800 that itself follows a full stop (``e.g. this``), or after
    Mr, Mrs, Ms, Dr, Prof or St. That is all it knows of abbreviations: ``etc. And`` is
    taken as an end, ``Vitamin C. It`` is not. Thai, Lao and others without marks end at
    line ends only. Closing are ``"')]}`` and ”’»›」』）】》〉〕〗〙〛］｝｣＂＇, and before
    whitespace or the end of the line also “‘«‹, which close in German, Czech and Danish.

Ill-formed UTF-8 is U+FFFD, which is visible. All is one pass over the Arrow bytes
(cleanpipe/native/segments.c), whatever the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cleanpipe import _native

SubUnit: TypeAlias = Literal["paragraph", "line", "sentence"]
Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]
_Flags = npt.NDArray[np.bool_]


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
    offsets, start, end = _native.segments(text, unit)
    document = np.repeat(np.arange(len(text), dtype=np.int64), np.diff(offsets))
    return Segments(text, document, start, end)


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
