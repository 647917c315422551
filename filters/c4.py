"""The ``c4`` set: the heuristics of the Colossal Clean Crawled Corpus."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe.bounds import Bounds
from cleanpipe.filters.blocklist import Blocklist
from cleanpipe.filters.remove import Remove
from cleanpipe.filters.rule import MeasureRule
from cleanpipe.filters.variants import ByVariant, chosen
from cleanpipe.parameters import LocalPaths
from cleanpipe.stage import (
    Codes,
    Edits,
    Evidence,
    Filter,
    Measures,
    NamedSet,
    Rewriter,
    Rule,
    Stage,
)
from cleanpipe.units import Units

_PHRASES: Mapping[str, tuple[str, ...]] = {
    "javascript": ("javascript",),
    "policies": (
        "terms of use",
        "privacy policy",
        "cookie policy",
        "uses cookies",
        "use of cookies",
        "use cookies",
    ),
    "lorem_ipsum": ("lorem ipsum",),
}
_LINES = (
    "terminal_punctuation_line_share",
    "ellipsis_line_share",
    "whitespace_words",
    "tokens",
    "javascript",
    "policies",
)
_NONE = Bounds(None, 0)
_OLDER = {"whitespace_words": Bounds(3, None), "sentences": Bounds(5, None)}
_NUMBERS: Mapping[str, Mapping[str, Bounds]] = {
    "paper": {
        "whitespace_words": Bounds(5, None),
        "sentences": Bounds(3, None),
        "policies": _NONE,
    },
    "older": _OLDER,
    "datatrove": {**_OLDER, "policies": _NONE, "ellipsis_line_share": _NONE},
}


@dataclass(frozen=True)
class C4(NamedSet):
    """Keeps lines that are prose, and pages with enough of them.

    Source: Raffel et al., "Exploring the Limits of Transfer Learning with a Unified
    Text-to-Text Transformer", JMLR 21 (2020), section 2.2. First lines go, each for itself
    (``c4.lines``, a ``remove``), then pages, judged by the lines that are left: the paper
    leaves the order open, its authors' code does so. A page without any line left is
    dropped as ``empty``. Language identification and the removal of repeated three-sentence
    spans are stages of their own (``language``, ``paragraphs``).

    Parameters, null turns each off:
        variant: what holds where nothing is given: ``paper`` (default); ``older``, an earlier
            version of it, whose lines need 3 words and pages 5 sentences, and which knows
            neither citations nor policies; ``datatrove``, which has these numbers with both.
        citations: whether ``[1]``, ``[]``, ``[edit]`` and ``[citation needed]`` are taken out
            first, default true; older false.
        terminal_punctuation_line_share: default [1, null]: a line ends "in a terminal
            punctuation mark (i.e. a period, exclamation mark, question mark, or end quotation
            mark)", those of other scripts too (docs/measures.md).
        ellipsis_line_share: default null; datatrove [null, 0]: no line ends in ``...``, as in
            the authors' code.
        whitespace_words: of a line, default [5, null]; older, datatrove [3, null].
        tokens: of a line, default null. For Chinese and other scripts without spaces, where
            a line is one whitespace word: ``{whitespace_words: null, tokens: [5, null]}``.
        javascript: how often a line may say ``javascript``, default [null, 0].
        policies: how often a line may say ``terms of use``, ``privacy policy``, ``cookie
            policy``, ``uses cookies``, ``use of cookies``, ``use cookies``; default [null, 0];
            older null.
        sentences: of a page, default [3, null]; older, datatrove [5, null].
        bad_words: files of words a page must not hold, as ``blocklist`` takes them (the paper:
            LDNOOBW). Default: none, and no such rule.
        lorem_ipsum: how often a page may say ``lorem ipsum``, default [null, 0].
        curly_brackets: of a page, ``{`` and ``}``, default [null, 0].

    ``min_tokens`` is refused: pages are judged by the lines that are left, so that the length of
    what came in says nothing of them.

    Phrases are found in any case, inside words too, as in the authors' code. That code also
    drops lines with a word of over 1,000 characters, of which the paper says nothing.
    """

    kind: ClassVar[str] = "c4"

    variant: Literal["paper", "older", "datatrove"] = "paper"
    citations: bool | Literal["variant"] | None = "variant"
    terminal_punctuation_line_share: Bounds | None = Bounds(1, None)
    ellipsis_line_share: ByVariant = "variant"
    whitespace_words: ByVariant = "variant"
    tokens: Bounds | None = None
    javascript: Bounds | None = _NONE
    policies: ByVariant = "variant"
    sentences: ByVariant = "variant"
    bad_words: LocalPaths | None = ()
    lorem_ipsum: Bounds | None = _NONE
    curly_brackets: Bounds | None = _NONE

    def check(self) -> Iterable[tuple[str, str]]:
        """Lists that cannot be read, and a length that would be that of edited pages."""
        if self.min_tokens:
            yield (
                "min_tokens",
                "c4 judges a page by the lines that it leaves, so that tokens would be counted "
                "after its own edits: leave it out, and change sentences or whitespace_words",
            )
        if self.bad_words:
            for name, message in Blocklist(self.bad_words).check():
                yield name.replace("phrases", "bad_words"), message

    def expand(self) -> Sequence[tuple[str, Stage]]:
        """``citations``, ``lines``, then a rule for each parameter about pages."""
        made: list[tuple[str, Stage]] = []
        if self.variant != "older" if self.citations == "variant" else self.citations:
            made.append(("citations", _Citations()))
        rules: dict[str, Filter] = {
            name: _Phrases(_PHRASES[name], bounds)
            if name in _PHRASES
            else MeasureRule(name, bounds)
            for name, bounds in chosen(self, _NUMBERS[self.variant]).items()
        }
        lines = tuple((name, rules[name]) for name in _LINES if name in rules)
        if lines:
            made.append(("lines", Remove("line", lines)))
        if self.bad_words:
            rules["bad_words"] = Blocklist(self.bad_words)
        pages = ("sentences", "bad_words", "lorem_ipsum", "curly_brackets")
        return [*made, *((name, rules[name]) for name in pages if name in rules)]


@dataclass(frozen=True)
class _Phrases(Filter):
    """Bounds on how often a text says any of some phrases, in any case, inside words too.

    Parameters:
        phrases: of ASCII letters and spaces.
        hits: bounds on their number.

    Measures: hits.
    """

    kind: ClassVar[str] = "c4"

    phrases: tuple[str, ...]
    hits: Bounds

    def rules(self) -> tuple[Rule, ...]:
        """One on ``hits``."""
        return (Rule("hits", "hits", self.hits),)

    def measure(self, units: Units) -> Measures:
        """Count them in one reading."""
        found = pc.count_substring_regex(units.text, "|".join(self.phrases), ignore_case=True)
        return {"hits": np.asarray(found, np.float64)}

    def evidence(self, units: Units, codes: Codes, measures: Measures) -> Sequence[Evidence | None]:
        """The first of them, as it stands in the text."""
        return [self._first(text) for text in units.strings]

    def _first(self, text: str) -> Evidence | None:
        found = re.search("|".join(self.phrases), text, re.IGNORECASE)
        if found is None:  # bounds may ask for some
            return None
        start = len(text[: found.start()].encode())
        return Evidence(found[0], start, start + len(found[0].encode()))


@dataclass(frozen=True)
class _Citations(Rewriter):
    """Takes out the marks that Wikipedia puts behind what it cites, and for editing."""

    kind: ClassVar[str] = "c4"

    def rules(self) -> tuple[Rule, ...]:
        """One, that there are none."""
        return (Rule("citations", "citations", "no citation marks"),)

    def rewrite(self, units: Units) -> tuple[Edits, Measures]:
        """An edit for each run of marks."""
        rows = np.flatnonzero(np.asarray(pc.match_substring(units.text, "[")))
        places = [
            (row, *mark.span())
            for row, text in zip(rows.tolist(), units.text.take(pa.array(rows)), strict=True)
            for mark in _CITATION.finditer(text.as_buffer())
        ]
        unit, start, end = np.array(places, np.int64).reshape(-1, 3).T
        rule = np.ones(len(unit), np.uint16)
        return Edits(unit, start, end, rule, np.full(len(unit), np.nan)), {}


_CITATION = re.compile(rb"(?:\[(?:[0-9]*|edit|citation needed)\])+")
