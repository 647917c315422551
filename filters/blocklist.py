"""The ``blocklist`` filter: words and phrases that a text must not hold too many of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from cleanpipe.bounds import Bounds
from cleanpipe.errors import ConfigError
from cleanpipe.filters import phrases as sources
from cleanpipe.filters.addresses import domain_of, host_of
from cleanpipe.filters.matching import Hit, Matcher, candidates, hits, is_counted, phrase_key
from cleanpipe.filters.phrases import Entry
from cleanpipe.parameters import LocalPath, LocalPaths, Texts
from cleanpipe.patterns import compiled
from cleanpipe.stage import Codes, Evidence, Filter, Measures, Resource, Rule
from cleanpipe.units import Units

_SHOWN = 3


@dataclass(frozen=True)
class Blocklist(Filter):
    """Drops texts with words or phrases of a list, counted as whole words.

    Text and phrases are folded before they are compared (NFKC and simple case folding, as for
    tokens: full-width letters, ligatures, capitals), and traditional Chinese characters are
    read as simplified ones, each by itself (OpenCC's table; so ``乾`` and ``幹`` are both ``干``).
    A phrase with a sharp s is found with ss too, but ``ass`` not in German ``aß``. A match
    counts where it begins and ends at a word boundary:

    - with spaces: beside anything but a letter, mark or number, so ``ass`` is not in
      ``class``; and ``13.`` is not in ``13.27``. Hangul is one of these: a word with a
      particle on it is another word.
    - Chinese, Japanese, Thai, Lao, Khmer, Burmese: where ICU's dictionary ends a word. Of
      1,104 clean Chinese encyclopaedia passages plain matching of LDNOOBW's Chinese list
      hits 358 (765 matches), whole words 179 (263), without single characters
      (``min_length``) 34 (54), and without what ships as its exceptions (``lists``) 9 (9). Of
      1,108 planted phrases of that list 1.4 % are missed because ICU joins them to their
      neighbours.

    Of matches that overlap the leftmost counts, of those that begin together the longest, of
    those in one place that of the first list. A phrase lies in one line, its spaces as in the
    list.

    Parameters:
        phrases: files of phrases: paths, globs and folders (every file below, but for README,
            LICENSE and the like); see :mod:`cleanpipe.filters.phrases`. Or a map of names to
            such, which the evidence then calls the lists by. Default: none.
        words: phrases themselves. Default: none.
        lists: lists that ship, as ``ldnoobw.en``: LDNOOBW's in 28 languages (CC-BY-4.0; ar, cs,
            da, de, en, eo, es, fa, fi, fil, fr, fr-CA-u-sd-caqc, hi, hu, it, ja, kab, ko, nl,
            no, pl, pt, ru, sv, th, tlh, tr, zh), each with a list of exceptions where we have
            one (zh); ``boilerplate`` of pages (en, zh); ``function_words`` (zh). Default: none.
        patterns: RE2 patterns, matched with the text as it is, wherever they match; ``(?i)``
            and ``\\b`` (of ASCII words) are the pattern's own. Default: none.
        pattern_files: files of patterns, as ``phrases``. Default: none.
        exempt (``except`` in pipeline files): files of phrases that never count; a match
            inside an occurrence of a longer one of them does not count either (``blue tit``
            keeps ``tit``), wherever that occurrence begins and ends. Default: none.
        min_length: phrases of fewer characters do not count, marks apart, those of a
            table too. Default null: one
            character alone counts but for Chinese and the other scripts without spaces, where it
            is seldom a word: they made 209 of 263 matches of LDNOOBW's list in those passages.
        separators: find phrases with something put between their characters too (``b.a.d``,
            ``坏*词``, zero-width spaces); see :mod:`cleanpipe.filters.separators`. Default
            false, as it takes half the speed, and finds abbreviations such as ``A.S.S.`` too
            (1 in 8,568 manual pages and chapters, none in 2,058 web pages).
        table: a file of JSON lines with phrases and whole lines that count only in documents of
            one host, ``{"host": "a.com", "lines": ["Share this"], "phrases": [...]}``; for
            ``remove`` with ``unit: line``, say. A line counts without white space around it,
            folded as phrases are. It needs the document's ``url``. Default: none.
        by: what the table goes by: ``host`` (default; exactly that one) or ``domain`` (the
            registered one, see ``domains``).
        hits: bounds on the number of matches. Default [null, 0], a single one drops; or null,
            none, where ``per_1000_tokens`` is given.
        per_1000_tokens: bounds on matches per 1,000 tokens. Default: null, none.

    Measures:
        hits: number of matches.
        hits_per_1000_tokens: 1000 * hits / tokens, a text without tokens taken as one token.

    Errors: ConfigError where a list cannot be read any more when the first batch comes.
    """

    kind: ClassVar[str] = "blocklist"
    version: ClassVar[int] = 3
    aliases: ClassVar[Mapping[str, str]] = {"except": "exempt"}

    phrases: LocalPaths | Mapping[str, LocalPaths] = ()
    words: Texts = ()
    lists: Texts = ()
    patterns: Texts = ()
    pattern_files: LocalPaths = ()
    exempt: LocalPaths = ()
    min_length: int | None = None
    separators: bool = False
    table: LocalPath | None = None
    by: Literal["host", "domain"] = "host"
    hits: Bounds | Literal["default"] | None = "default"
    per_1000_tokens: Bounds | None = None

    def __post_init__(self) -> None:
        if self.hits == "default":
            bounds = Bounds(None, 0) if self.per_1000_tokens is None else None
            object.__setattr__(self, "hits", bounds)

    def resources(self) -> tuple[Resource, ...]:
        """Every file that it reads, those of lists that ship too."""
        paths = dict.fromkeys(path for _, path in self._named_files()[0])
        for patterns in (self.pattern_files, self.exempt):
            paths.update(dict.fromkeys(sources.files(patterns)[0]))
        for name in self.lists:
            if name in sources.shipped():
                paths.update((path, None) for path in sources.shipped_files(name) if path)
        if self.table is not None:
            paths[self.table] = None
        return tuple(Resource(path) for path in paths)

    def needs(self) -> tuple[str, ...]:
        """``url``, with a table."""
        return () if self.table is None else ("url",)

    def check(self) -> Iterable[tuple[str, str]]:
        """What is missing or cannot be read, each with its place; lists of which nothing counts."""
        if not any((self.phrases, self.words, self.lists, self.patterns, self.pattern_files)) and (
            self.table is None
        ):
            yield "", "expected phrases, words, lists, patterns, pattern_files or a table"
        if self.min_length is not None and self.min_length < 1:
            yield "min_length", f"expected at least 1, got {self.min_length}"
        read = self._read
        yield from read.faults
        if read.faults:
            return
        if read.phrases and not read.counted and not read.patterns and self.table is None:
            yield "min_length", "every phrase of the lists is shorter: nothing would ever count"
        barred = set(map(phrase_key, read.exempt))
        counted = {phrase_key(entry.text) for entry in read.counted}
        if (
            counted
            and not read.exceptions
            and counted <= barred
            and not read.patterns
            and self.table is None
        ):
            yield "exempt", "every phrase of the lists is exempt: nothing would ever count"

    def warnings(self) -> Iterable[str]:
        """Phrases of one's own that are too short to count."""
        short = [
            entry.text
            for entry in self._read.phrases
            if entry.list not in self.lists and not is_counted(entry.text, self.min_length)
        ]
        if short:
            number = "1 phrase is" if len(short) == 1 else f"{len(short)} phrases are"
            some = ", ".join(short[:_SHOWN]) + (", ..." if len(short) > _SHOWN else "")
            yield f"{number} too short to count: {some}; min_length: 1 takes all"

    def takes(self) -> tuple[str, ...]:
        """``hits`` and ``hits_per_1000_tokens``."""
        return ("hits", "hits_per_1000_tokens")

    def rules(self) -> tuple[Rule, ...]:
        """``hits``, then ``per_1000_tokens``, each where it is bounded."""
        bounded = (
            ("hits", "hits", self.hits),
            ("per_1000_tokens", "hits_per_1000_tokens", self.per_1000_tokens),
        )
        return tuple(
            Rule(name, measure, bounds)
            for name, measure, bounds in bounded
            if isinstance(bounds, Bounds) and bounds
        )

    def measure(self, units: Units) -> Measures:
        """One search of all units; of each by itself only where that found something."""
        counted = np.zeros(len(units))
        rows = (
            candidates(units.text, self._matchers) if self.table is None else np.arange(len(units))
        )
        counted[rows] = [len(each) for each in self._hits(units.take(rows))]
        tokens = np.maximum(units.number("tokens"), 1.0)
        return {"hits": counted, "hits_per_1000_tokens": 1000.0 * counted / tokens}

    def evidence(self, units: Units, codes: Codes, measures: Measures) -> Sequence[Evidence | None]:
        """The first match, as it stands in the text, and whose it is."""
        found = zip(units.strings, self._hits(units), strict=True)
        return [_shown(text, each[0]) if each else None for text, each in found]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """The matches that count but for the table's, as character offsets [start, end),
        ascending, disjoint."""
        return [(hit.start, hit.end) for hit in hits(text, self._matchers)]

    def _hits(self, units: Units) -> Iterable[list[Hit]]:
        if self.table is None:
            return (hits(text, self._matchers) for text in units.strings)
        urls = units.value("url")
        keys = [None] * len(units) if isinstance(urls, np.ndarray) else urls.to_pylist()
        return (
            hits(text, [*self._matchers, *self._theirs(key)])
            for text, key in zip(units.strings, keys, strict=True)
        )

    def _theirs(self, url: str | None) -> Sequence[Matcher]:
        """What counts in documents with this address alone."""
        host = host_of(url)
        key = domain_of(host) if self.by == "domain" else host
        rows = self._rows.get(key) if key is not None else None
        if rows is None or key is None:
            return ()
        if key not in self._made:
            assert self.table is not None
            name = self.table.written
            self._made[key] = Matcher(
                (
                    Entry(name, text)
                    for row in rows
                    for text in row.phrases
                    if is_counted(text, self.min_length)
                ),
                self._read.exempt,
                lines=(Entry(name, text) for row in rows for text in row.lines),
                separated=self.separators,
            )
        return (self._made[key],)

    def _named_files(self) -> tuple[list[tuple[str, LocalPath]], list[str]]:
        """The files of phrases, each with what its list is called; and faults."""
        if not isinstance(self.phrases, Mapping):
            found, faults = sources.files(self.phrases)
            return [(path.written, path) for path in found], faults
        named, faults = [], []
        for name, patterns in self.phrases.items():
            found, wrong = sources.files(patterns)
            named += [(name, path) for path in found]
            faults += wrong
        return named, faults

    @cached_property
    def _read(self) -> _Lists:
        return _Lists(self)

    def _sound(self) -> _Lists:
        faults = self._read.faults
        if faults:
            raise ConfigError(f"blocklist: {'; '.join(text for _, text in faults)}")
        return self._read

    @cached_property
    def _matchers(self) -> Sequence[Matcher]:
        """One for all lists but those that ship with exceptions, which are theirs alone."""
        read = self._sound()
        own = [entry for entry in read.counted if entry.list in read.exceptions]
        rest = [entry for entry in read.counted if entry.list not in read.exceptions]
        made = [Matcher(rest, read.exempt, read.patterns, separated=self.separators)]
        for name, exempt in read.exceptions.items():
            phrases = (entry for entry in own if entry.list == name)
            made.append(Matcher(phrases, [*read.exempt, *exempt], separated=self.separators))
        return made

    @cached_property
    def _rows(self) -> Mapping[str, Sequence[sources.Row]]:
        return self._sound().rows

    @cached_property
    def _made(self) -> dict[str, Matcher]:
        return {}


class _Lists:
    """All that a blocklist's parameters name, read.

    Attributes:
        phrases: every phrase with its list.
        counted: those that are long enough.
        exempt: phrases that never count.
        exceptions: those of lists that ship, by the list.
        patterns: patterns with their lists.
        rows: the table's rows by host or domain.
        faults: what is wrong, by parameter.
    """

    def __init__(self, stage: Blocklist) -> None:
        self.faults: list[tuple[str, str]] = []
        self.phrases = [Entry("words", word.strip()) for word in stage.words if word.strip()]
        self.patterns = [Entry("patterns", pattern) for pattern in stage.patterns]
        self.exempt: list[str] = []
        self.exceptions: dict[str, list[str]] = {}
        self.rows: dict[str, list[sources.Row]] = {}
        if len(self.phrases) < len(stage.words):
            self.faults.append(("words", "expected phrases that are not empty"))
        named, wrong = stage._named_files()
        self._fault("phrases", map(_if_phrase, wrong))
        for name, path in named:
            self._phrases("phrases", name, path)
        for name in stage.lists:
            try:
                path, exempt = sources.shipped_files(name)
            except ValueError as error:
                self._fault("lists", [f"{error}; for files of yours: phrases"])
                continue
            self._phrases("lists", name, path)
            if exempt is not None:
                self.exceptions[name] = sources.read(exempt)[0]
        for entry in self.patterns:
            try:
                check_pattern(entry.text)
            except ValueError as error:
                self._fault("patterns", [str(error)])
        self._more("pattern_files", stage.pattern_files)
        self._more("exempt", stage.exempt)
        if stage.table is not None:
            self._table(stage.table, stage.by)
        self.counted = [entry for entry in self.phrases if is_counted(entry.text, stage.min_length)]

    def _fault(self, parameter: str, faults: Iterable[str]) -> None:
        self.faults += ((parameter, fault) for fault in faults)

    def _phrases(self, parameter: str, name: str, path: str) -> None:
        phrases, faults = sources.read(path)
        if not phrases and not faults:
            faults = [f"{path}: no phrase in it"]
        self._fault(parameter, faults)
        self.phrases += (Entry(name, phrase) for phrase in phrases)

    def _more(self, parameter: str, patterns: LocalPaths) -> None:
        found, faults = sources.files(patterns)
        self._fault(parameter, faults)
        for path in found:
            if parameter == "exempt":
                texts, faults = sources.read(path)
                self.exempt += texts
            else:
                texts, faults = sources.read_each(path, check_pattern)
                self.patterns += (Entry(path.written, text) for text in texts)
            self._fault(parameter, faults)

    def _table(self, path: LocalPath, by: str) -> None:
        rows, faults = sources.read_table(path, by)
        for row in rows:
            host = host_of(row.key)
            key = domain_of(host) if by == "domain" else host
            if key is None or (by == "domain" and key != host):
                faults.append(f'{path}:{row.number}: expected a {by}, got "{row.key}"')
            else:
                self.rows.setdefault(key, []).append(row)
        if not rows and not faults:
            faults.append(f"{path}: no row in it")
        self._fault("table", faults)


def _if_phrase(fault: str) -> str:
    """The fault, and what to write if a phrase stands where files are named."""
    pattern = fault.removeprefix("no file matches ")
    phrase = pattern != fault and not set("/.*?[") & set(pattern)
    return f"{fault}; for phrases right here: words" if phrase else fault


def check_pattern(pattern: str) -> Any:
    """A pattern, compiled.

    Errors: ValueError where it is none, or matches the empty text: it would match everywhere.
    """
    found = compiled(pattern)
    if found.search(b"") is not None:
        raise ValueError(f'expected an RE2 pattern that needs something, got "{pattern}"')
    return found


def _shown(text: str, hit: Hit) -> Evidence:
    match = text[hit.start : hit.end]
    before = len(text[: hit.start].encode())
    end = before + len(match.encode())
    return Evidence(match, before, end, entry=str(hit.entry))
