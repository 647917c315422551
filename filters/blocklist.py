"""The ``blocklist`` filter: words and phrases that a text must not hold too many of."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import ClassVar

import numpy as np
from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from cleanpipe.bounds import Bounds
from cleanpipe.errors import ConfigError
from cleanpipe.filters import phrases as lists
from cleanpipe.filters.boundaries import dictionary_breaks, goes_on, joint
from cleanpipe.filters.folding import FoldedLine, fold
from cleanpipe.parameters import LocalPaths, matched
from cleanpipe.stage import Codes, Evidence, Filter, Measures, Resource, Rule
from cleanpipe.units import Units

_DFA_BYTES = 1 << 15  # a state a byte and up to 1 KiB a state: at most 32 MiB a process

Span = tuple[int, int]


@dataclass(frozen=True)
class Blocklist(Filter):
    """Drops texts with words or phrases of a list, counted as whole words.

    Text and phrases are folded before they are compared (NFKC and simple case folding, as for
    tokens: full-width letters, ligatures, capitals). A phrase with a sharp s is found with ss
    too, but ``ass`` not in German ``aß``. A match counts where it begins and ends at a word
    boundary:

    - with spaces: beside anything but a letter, mark or number, so ``ass`` is not in
      ``class``; and ``13.`` is not in ``13.27``. Hangul is one of these: a word with a
      particle on it is another word.
    - Chinese, Japanese, Thai, Lao, Khmer, Burmese: where ICU's dictionary ends a word. Of
      1,104 clean Chinese encyclopaedia passages plain matching of LDNOOBW's Chinese list
      hits 358 (765 matches), this hits 185 (271); 171 of the matches left are one suffix,
      U+6027, that is a word of its own to ICU: exempt it. Of 1,272 planted phrases of that
      list 1.4 % are missed because ICU joins them to their neighbours.

    Of matches that overlap the leftmost counts, of those that begin together the longest.
    A phrase lies in one line, its spaces as in the list.

    Parameters:
        phrases: files of phrases, paths or globs; see :mod:`cleanpipe.filters.phrases`.
        exempt (``except`` in pipeline files): files of phrases that never count; a match
            inside an occurrence of a longer one of them does not count either (``blue tit``
            keeps ``tit``), wherever that occurrence begins and ends. Default: none.
        hits: bounds on the number of matches. Default [null, 0]: a single one drops.
        per_1000_tokens: bounds on matches per 1,000 tokens. Default: open.

    Measures:
        hits: number of matches.
        hits_per_1000_tokens: 1000 * hits / tokens, a text without tokens taken as one token.

    Errors: ConfigError where a list cannot be read any more when the first batch comes.
    """

    kind: ClassVar[str] = "blocklist"
    aliases: ClassVar[Mapping[str, str]] = {"except": "exempt"}

    phrases: LocalPaths
    exempt: LocalPaths = ()
    hits: Bounds = Bounds(None, 0)
    per_1000_tokens: Bounds = Bounds()

    def resources(self) -> tuple[Resource, ...]:
        """Every file that a pattern names."""
        found, _ = matched((*self.phrases, *self.exempt))
        return tuple(Resource(path) for path in found)

    def check(self) -> Iterable[tuple[str, str]]:
        """Patterns that name no file, lists without a phrase, lines that are not UTF-8."""
        if not self.phrases:
            yield "phrases", "expected at least one file"
        counted: set[str] = set()
        exempt: set[str] = set()
        sound = True
        for name, patterns, into in (
            ("phrases", self.phrases, counted),
            ("exempt", self.exempt, exempt),
        ):
            found, faults = matched(patterns)
            for path in found:
                phrases, wrong = lists.read(path)
                if not phrases and not wrong and name == "phrases":
                    wrong = [f"{path}: no phrase in it"]
                faults += wrong
                into.update(map(fold, phrases))
            for fault in faults:
                sound = False
                yield name, fault
        if sound and counted and counted <= exempt:
            yield "exempt", "every phrase of the lists is exempt: nothing would ever count"

    def takes(self) -> tuple[str, ...]:
        """``hits`` and ``hits_per_1000_tokens``."""
        return ("hits", "hits_per_1000_tokens")

    def rules(self) -> tuple[Rule, ...]:
        """``hits``, then ``per_1000_tokens``, each where it is bounded."""
        rules = (
            Rule("hits", "hits", self.hits),
            Rule("per_1000_tokens", "hits_per_1000_tokens", self.per_1000_tokens),
        )
        return tuple(rule for rule in rules if rule.bounds)

    def measure(self, units: Units) -> Measures:
        """One pass of the automaton a unit; boundaries only where it found something."""
        hits = np.fromiter(
            (len(self.spans(text)) for text in units.strings), np.float64, len(units)
        )
        tokens = np.maximum(units.number("tokens"), 1.0)
        return {"hits": hits, "hits_per_1000_tokens": 1000.0 * hits / tokens}

    def evidence(self, units: Units, codes: Codes, measures: Measures) -> Sequence[Evidence | None]:
        """The first match, as it stands in the text."""
        return [self._first(text) for text in units.strings]

    def spans(self, text: str) -> list[Span]:
        """The matches that count, as character offsets [start, end), ascending, disjoint."""
        folded = fold(text)
        found = self._automaton.find_matches_as_indexes(folded, overlapping=True)
        if not found:
            return []
        matches, covers = [], []
        for which, start, end in found:
            if which >= self._counted:
                covers.append((start, end))
            elif not (_closed(folded, start) or _closed(folded, end)):
                matches.append((start, end))
        if not matches:
            return []
        # Leftmost first, of those the longest; the last one taken bars what overlaps it.
        matches.sort(key=lambda span: (span[0], -span[1]))
        lines = _Lines(text, folded)
        covered = _Covers(covers)
        spans: list[Span] = []
        taken = 0
        for start, end in matches:
            if start < taken or covered.cover(start, end):
                continue
            span = lines.place(start, end)
            # Two matches may lie in one character: both digits of a fraction.
            if span is not None and not (spans and span[0] < spans[-1][1]):
                spans.append(span)
                taken = end
        return spans

    def _first(self, text: str) -> Evidence | None:
        spans = self.spans(text)
        if not spans:
            return None
        start, end = spans[0]
        match = text[start:end]
        before = len(text[:start].encode())
        return Evidence(match, before, before + len(match.encode()))

    @cached_property
    def _patterns(self) -> tuple[list[str], list[str]]:
        """Folded phrases: those that count, and those that are exempt."""
        read = []
        for patterns in (self.phrases, self.exempt):
            found, faults = matched(patterns)
            phrases, wrong = lists.read_all(found)
            if faults or wrong:
                raise ConfigError(f"blocklist: {'; '.join(faults + wrong)}")
            # In capitals a sharp s is written SS; folding the text so would make aß of ass.
            spelled = (each for phrase in phrases for each in (phrase, phrase.replace("ß", "ss")))
            read.append(dict.fromkeys(map(fold, spelled)))
        counted, exempt = read
        return [phrase for phrase in counted if phrase not in exempt], list(exempt)

    @cached_property
    def _counted(self) -> int:
        return len(self._patterns[0])

    @cached_property
    def _automaton(self) -> AhoCorasick:
        counted, exempt = self._patterns
        small = sum(len(phrase.encode()) for phrase in counted + exempt) <= _DFA_BYTES
        return AhoCorasick(
            counted + exempt,
            matchkind=MatchKind.Standard,
            store_patterns=False,
            # Three times the speed, for memory that only a short list affords.
            implementation=Implementation.DFA if small else None,
        )


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


class _Lines:
    """From places in a folded text to words in the text, a line at a time and only on demand."""

    def __init__(self, text: str, folded: str) -> None:
        self._lines = text.split("\n")
        self._begin = _line_starts(self._lines)
        self._folded_begin = _line_starts(folded.split("\n"))
        self._number = -1
        self._line = FoldedLine("")
        self._breaks: frozenset[int] | None = None

    def place(self, start: int, end: int) -> Span | None:
        """Where folded [start, end), within a line, stood; None where it is no whole word."""
        number = bisect_right(self._folded_begin, start) - 1
        if number != self._number:
            self._number = number
            self._line = FoldedLine(self._lines[number])
            self._breaks = None
        begin = self._folded_begin[number]
        start, end = start - begin, end - begin
        first, last = self._line.origin(start, end)
        if not (self._is_boundary(start, first) and self._is_boundary(end, last)):
            return None
        if goes_on(self._line.folded, end):
            return None
        return self._begin[number] + first, self._begin[number] + last

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


def _line_starts(lines: list[str]) -> list[int]:
    return list(accumulate((len(line) + 1 for line in lines[:-1]), initial=0))
