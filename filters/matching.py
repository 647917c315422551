"""Finding phrases, patterns and lines in a text: what counts, where, and of which list.

Not a stage. :mod:`cleanpipe.filters.blocklist` says what counts as a match.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from ahocorasick_rs import AhoCorasick, BytesAhoCorasick, Implementation, MatchKind

from cleanpipe.filters import separators
from cleanpipe.filters.boundaries import dictionary_breaks, goes_on, joint, unspaced
from cleanpipe.filters.candidates import Folded, Places
from cleanpipe.filters.folding import FoldedLine, fold, simplified
from cleanpipe.filters.phrases import Entry
from cleanpipe.patterns import compiled

_DFA_BYTES = 1 << 15  # a state a byte and up to 1 KiB a state: at most 32 MiB a process

Span = tuple[int, int]


class Hit(NamedTuple):
    """A match that counts.

    Attributes:
        start, end: characters [start, end) of the text.
        entry: what matched there.
    """

    start: int
    end: int
    entry: Entry


def phrase_key(phrase: str) -> str:
    """What of a phrase is compared: folded, traditional characters as simplified ones."""
    return simplified(fold(phrase))


def is_counted(phrase: str, least: int | None) -> bool:
    """Whether a phrase is long enough.

    Args:
        least: how many characters, marks apart, it must have; None: one, but two where it is in a
            script without spaces.
    """
    letters = [char for char in fold(phrase) if unicodedata.category(char)[0] != "M"]
    if least is None:
        return len(letters) > 1 or not letters or not unspaced(letters[0])
    return len(letters) >= least


class Matcher:
    """Lists made ready to be found."""

    def __init__(
        self,
        phrases: Iterable[Entry],
        exempt: Iterable[str] = (),
        patterns: Iterable[Entry] = (),
        lines: Iterable[Entry] = (),
        separated: bool = False,
    ) -> None:
        """
        Args:
            phrases: what counts as whole words. Of equal ones the first is named.
            exempt: phrases that never count, nor what lies in them. Default: none.
            patterns: RE2 patterns that count wherever they match. Default: none.
            lines: what counts as a whole line. Default: none.
            separated: find phrases with something between their characters too. Default False.
        """
        barred = dict.fromkeys(key for phrase in exempt for key in _keys(phrase))
        counted: dict[str, Entry] = {}
        for entry in phrases:
            for key in _keys(entry.text):
                if key not in barred:
                    counted.setdefault(key, entry)
        self._keys, self._entries = list(counted), list(counted.values())
        self._patterns = [(compiled(entry.text), entry) for entry in patterns]
        self._barred = list(barred)
        self._whole: dict[str, Entry] = {}
        for entry in lines:
            self._whole.setdefault(phrase_key(entry.text), entry)
        self._separated = separated
        # Most lists have no Chinese: their texts need not be looked up.
        self._simplifies = bool(self._whole) or any(map(_HAN.search, self._keys))

    def find(self, text: Text) -> list[Hit]:
        """Every match that is a whole word, a pattern's or a line, and in no exempt phrase; in
        order of the entries where several are in one place. They may overlap."""
        found = list(self._all(text))
        if not found or not self._barred:
            return found
        covered = _Covers(list(self._covers(text)))
        return [hit for hit in found if not covered.cover(hit.start, hit.end)]

    def may_match(self, texts: Folded) -> Places:
        """Which texts may have a match, in no order, some twice; none else has one.

        Only whole phrases are looked for so: with patterns, lines or phrases with something
        between their characters it is every text.
        """
        if self._patterns or self._whole or self._separated:
            return np.concatenate([texts.rows, texts.others])
        if not self._keys:
            return np.zeros(0, np.int64)
        found = self._bytes_automaton.find_matches_as_indexes(texts.data, overlapping=True)
        _, starts, ends = np.array(found, np.int64).reshape(-1, 3).T
        return np.concatenate([texts.whole(starts, ends), texts.others])

    def _all(self, text: Text) -> Iterator[Hit]:
        if self._keys:
            yield from self._phrases(text)
            if self._separated:
                yield from self._spelled(text)
        for pattern, entry in self._patterns:
            yield from text.found(pattern, entry)
        if self._whole:
            place = 0
            for line in text.text.split("\n"):
                found = self._whole.get(phrase_key(line.strip())) if line.strip() else None
                if found is not None:
                    start = place + len(line) - len(line.lstrip())
                    yield Hit(start, start + len(line.strip()), found)
                place += len(line) + 1

    def _covers(self, text: Text) -> Iterator[Span]:
        """Where exempt phrases stand."""
        found = _found(self._exempt_automaton, text.folded(True))
        for _, start, end in sorted(found, key=_by_place):
            line = text.line(start)
            first, last = line.origin(start - line.folded_begin, end - line.folded_begin)
            yield line.begin + first, line.begin + last
        if self._separated:
            for begin, squeezed, left in text.squeezed:
                folded = simplified(left.folded)
                for _, start, end in _found(self._exempt_automaton, folded):
                    first, last = squeezed.origin(*left.origin(start, end))
                    yield begin + first, begin + last

    def _phrases(self, text: Text) -> Iterator[Hit]:
        folded = text.folded(self._simplifies)
        matches = [
            found
            for found in _found(self._automaton, folded)
            if not (_closed(folded, found[1]) or _closed(folded, found[2]))
        ]
        for which, start, end in sorted(matches, key=_by_place):
            line = text.line(start)
            span = line.word(start - line.folded_begin, end - line.folded_begin)
            if span is not None:
                yield Hit(line.begin + span[0], line.begin + span[1], self._entries[which])

    def _spelled(self, text: Text) -> Iterator[Hit]:
        for begin, squeezed, line in text.squeezed:
            folded = simplified(line.folded) if self._simplifies else line.folded
            for which, start, end in sorted(_found(self._automaton, folded), key=_by_place):
                span = line.word(start, end)
                if span is not None and squeezed.spells(*span):
                    first, last = squeezed.origin(*span)
                    yield Hit(begin + first, begin + last, self._entries[which])

    @cached_property
    def _automaton(self) -> AhoCorasick:
        return _automaton(self._keys)

    @cached_property
    def _bytes_automaton(self) -> BytesAhoCorasick:
        keys = [key.encode() for key in self._keys]
        return BytesAhoCorasick(
            keys, matchkind=MatchKind.Standard, implementation=_implementation(keys)
        )

    @cached_property
    def _exempt_automaton(self) -> AhoCorasick:
        return _automaton(self._barred)


def hits(text: str, matchers: Sequence[Matcher]) -> list[Hit]:
    """The matches that count, ascending, disjoint.

    Of those that overlap the leftmost counts, of those that begin together the longest, of those
    in one place the first by the order of the matchers and their entries.
    """
    looked = Text(text)
    found = [hit for matcher in matchers for hit in matcher.find(looked)]
    found.sort(key=lambda hit: (hit.start, -hit.end))
    taken: list[Hit] = []
    for hit in found:
        if not taken or hit.start >= taken[-1].end:
            taken.append(hit)
    return taken


def candidates(text: pa.LargeStringArray, matchers: Sequence[Matcher]) -> Places:
    """The texts that may have a match, int64, ascending: in no other has :func:`hits` any."""
    texts = Folded(text)
    found = [matcher.may_match(texts) for matcher in matchers]
    return np.unique(np.concatenate([*found, np.zeros(0, np.int64)]))


class Text:
    """A text, with what several matchers need of it, made on demand.

    Attributes:
        text: the text.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines: _Lines | None = None

    def folded(self, simple: bool) -> str:
        """The text folded; with ``simple``, traditional characters as simplified ones."""
        return self._simplified if simple else self._folded

    def line(self, place: int) -> _PlacedLine:
        """The line that has a place of the folded text."""
        if self._lines is None:
            self._lines = _Lines(self.text, self._folded)
        return self._lines.line(place)

    def found(self, pattern: object, entry: Entry) -> Iterator[Hit]:
        """Where a pattern matches something."""
        place = at = 0  # bytes, and characters before them
        for match in pattern.finditer(self._bytes):  # type: ignore[attr-defined]
            start, end = match.span()
            if start < end:
                at += len(self._bytes[place:start].decode("utf-8", "replace"))
                length = len(self._bytes[start:end].decode("utf-8", "replace"))
                yield Hit(at, at + length, entry)
                place, at = end, at + length

    @cached_property
    def squeezed(self) -> list[tuple[int, separators.Squeezed, _Line]]:
        """Where each line with something between letters begins, what is left of it, and that
        with its words."""
        made = []
        for start, end in separators.candidates(self.text):
            squeezed = separators.Squeezed(self.text[start:end])
            if len(squeezed.text) < end - start:
                made.append((start, squeezed, _Line(squeezed.text)))
        return made

    @cached_property
    def _bytes(self) -> bytes:
        return self.text.encode()

    @cached_property
    def _folded(self) -> str:
        return fold(self.text)

    @cached_property
    def _simplified(self) -> str:
        return simplified(self._folded)


_HAN = re.compile("[\u3400-\u9fff\U00020000-\U0003ffff]")


def _by_place(found: tuple[int, int, int]) -> tuple[int, int, int]:
    return found[1], found[2], found[0]


def _keys(phrase: str) -> Iterator[str]:
    """A phrase as it is compared, and as it is in capitals: there a sharp s is written SS, and
    folding the text so would make ``aß`` of ``ass``."""
    yield phrase_key(phrase)
    if "ß" in phrase:
        yield phrase_key(phrase.replace("ß", "ss"))


def _automaton(keys: Sequence[str]) -> AhoCorasick:
    return AhoCorasick(
        keys,
        matchkind=MatchKind.Standard,
        store_patterns=False,
        implementation=_implementation([key.encode() for key in keys]),
    )


def _implementation(keys: Sequence[bytes]) -> Implementation | None:
    """Three times the speed, for memory that only a short list affords."""
    return Implementation.DFA if sum(map(len, keys)) <= _DFA_BYTES else None


def _found(automaton: AhoCorasick, folded: str) -> list[tuple[int, int, int]]:
    found: list[tuple[int, int, int]] = automaton.find_matches_as_indexes(folded, overlapping=True)
    return found


def _closed(folded: str, place: int) -> bool:
    """Whether a place is inside a run of letters, so that no word can end there."""
    return 0 < place < len(folded) and joint(folded[place - 1], folded[place]) == "closed"


class _Covers:
    """Occurrences of exempt phrases."""

    def __init__(self, spans: list[Span]) -> None:
        spans.sort()
        self._starts = [start for start, _ in spans]
        self._reach = list(accumulate((end for _, end in spans), max))

    def cover(self, start: int, end: int) -> bool:
        """Whether one of them holds [start, end)."""
        before = bisect_right(self._starts, start)
        return before > 0 and self._reach[before - 1] >= end


class _Line:
    """A line, folded, that knows its words."""

    def __init__(self, original: str) -> None:
        self._line = FoldedLine(original)
        self._breaks: frozenset[int] | None = None

    @property
    def folded(self) -> str:
        return self._line.folded

    def origin(self, start: int, end: int) -> Span:
        """Where the folded characters [start, end) stood in it."""
        return self._line.origin(start, end)

    def word(self, start: int, end: int) -> Span | None:
        """Where they stood; None where they are no whole word."""
        first, last = self._line.origin(start, end)
        if not (self._is_boundary(start, first) and self._is_boundary(end, last)):
            return None
        return None if goes_on(self._line.folded, end) else (first, last)

    def _is_boundary(self, place: int, origin: int) -> bool:
        folded = self._line.folded
        if not 0 < place < len(folded):
            return True
        kind = joint(folded[place - 1], folded[place])
        if kind != "dictionary":
            return kind == "open"
        if self._line.splits(place):
            return False
        if self._breaks is None:
            # Before folding: it takes Thai vowels apart, which the dictionary then misses.
            self._breaks = dictionary_breaks(self._line.original)
        return origin in self._breaks


class _PlacedLine(_Line):
    """A line of a text.

    Attributes:
        begin: where it begins in the text.
        folded_begin: where it begins in the folded text.
    """

    def __init__(self, original: str, begin: int, folded_begin: int) -> None:
        super().__init__(original)
        self.begin, self.folded_begin = begin, folded_begin


class _Lines:
    """A text's lines, by places in the folded text; one at a time and only on demand."""

    def __init__(self, text: str, folded: str) -> None:
        self._lines = text.split("\n")
        self._begin = _line_starts(self._lines)
        self._folded_begin = _line_starts(folded.split("\n"))
        self._number = -1
        self._line = _PlacedLine("", 0, 0)

    def line(self, place: int) -> _PlacedLine:
        """The line that has this place of the folded text."""
        number = bisect_right(self._folded_begin, place) - 1
        if number != self._number:
            self._number = number
            begins = self._begin[number], self._folded_begin[number]
            self._line = _PlacedLine(self._lines[number], *begins)
        return self._line


def _line_starts(lines: list[str]) -> list[int]:
    return list(accumulate((len(line) + 1 for line in lines[:-1]), initial=0))
