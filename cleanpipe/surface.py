"""The surface measures: numbers that the text alone gives, without any model.

Counts are exact integers in float64, shares are one division of two of them, 0/0 is 0.
:mod:`cleanpipe.characters` says what visible characters, letters and symbols are,
:mod:`cleanpipe.text` what lines, sentences and paragraphs are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe import _native
from cleanpipe.bounds import Numbers
from cleanpipe.characters import Kind, Kinds
from cleanpipe.text import SubUnit, segments, whitespace_words
from cleanpipe.texts import slices, text_column

if TYPE_CHECKING:
    from cleanpipe.units import Units

STOP_WORDS = frozenset(("the", "be", "to", "of", "and", "that", "have", "with"))
"""The eight words of Rae et al. 2021, A.1.1."""
BULLETS = "•‣⁃◦∙▪▫■□●○▶◀・"
"""Marks that make a line a list item; ``-``, ``*`` and ``–`` do so before whitespace only."""

_WORD = re.compile(r"[^\W_]+")
_BULLET = re.compile(rf"[{BULLETS}]|[-*–](?=\s|$)")


class SurfaceMeasure(NamedTuple):
    """One measure: how it is taken (float64, shape (n,)), what it says, and its unit."""

    take: Callable[[Units], Numbers]
    description: str
    unit: str


def measure(units: Units, name: str) -> Numbers:
    """Take one of :data:`SURFACE`: float64, shape (n,). KeyError where there is none such."""
    return SURFACE[name].take(units)


def measures(texts: Any) -> pa.Table:
    """Every surface measure of each text.

    Args:
        texts: n texts: a list or tuple of ``str`` and None, an Arrow array or chunked
            array of strings, a pandas Series, or what else exports an Arrow stream.

    Returns:
        Table of n rows with a float64 column for each of :data:`SURFACE`, in its order;
        null where the text is None.

    Errors: TypeError where these are not texts; ValueError for a ``str`` with a lone
    surrogate, which is no text.
    """
    from cleanpipe.units import Units

    column = text_column(texts)
    tables = [_EMPTY]
    for begin, end in slices(column):
        part = column.slice(begin, end - begin)
        missing = np.asarray(part.is_null())
        units = Units(part.fill_null(""))
        taken = {
            name: pa.array(measure(units, name), pa.float64(), mask=missing) for name in SURFACE
        }
        tables.append(pa.table(taken))
    return pa.concat_tables(tables).combine_chunks()


def gopher_hash_word_ratio(text: str) -> float:
    """``#`` over whitespace words.

    Rae et al. 2021 (Gopher), A.1.1: a symbol-to-word ratio above 0.1 "for either the hash
    symbol or the ellipsis". datatrove divides by the words of its tokeniser, punctuation
    apart; dolma counts the words that hold ``#`` or ``…``, both in one ratio.
    """
    return _ratio(text.count("#"), len(whitespace_words(text)))


def gopher_ellipsis_word_ratio(text: str) -> float:
    """``...`` (from the left, not overlapping) and ``…`` over whitespace words.

    Source and deviations as for :func:`gopher_hash_word_ratio`; dolma knows only ``…``.
    """
    return _ratio(text.count("...") + text.count("…"), len(whitespace_words(text)))


def gopher_bullet_line_share(text: str) -> float:
    """Lines that begin with a bullet point, over lines that are not blank.

    Rae et al. 2021, A.1.1, which names no marks: here those of :data:`BULLETS`, after
    any indentation. datatrove takes ``•`` and ``-`` (also ``-5``) and counts blank lines
    as lines, as the paper may; dolma ``*`` and ``-``, not indented.
    """
    lines = _lines(text)
    return _ratio(sum(_BULLET.match(line) is not None for line in lines), len(lines))


def gopher_ellipsis_line_share(text: str) -> float:
    """Lines that end with ``...`` or ``…``, over lines that are not blank.

    Rae et al. 2021, A.1.1. datatrove counts blank lines as lines; dolma knows only ``…``.
    """
    lines = _lines(text)
    return _ratio(sum(line.endswith(("...", "…")) for line in lines), len(lines))


def gopher_alphabetic_word_share(text: str) -> float:
    """Whitespace words with a letter of any script in them, over whitespace words.

    Rae et al. 2021, A.1.1. datatrove's tokeniser makes words of punctuation marks, which
    have no letter: the same text has a lower share there.
    """
    words = whitespace_words(text)
    return _ratio(sum(word.isalpha() or any(map(str.isalpha, word)) for word in words), len(words))


def gopher_stop_words(text: str) -> int:
    """How many different ones of the eight :data:`STOP_WORDS` occur, in any case.

    Rae et al. 2021, A.1.1: a document must "contain at least two of the following English
    words". A word here is a run of letters and digits, so ``that's`` has *that*. datatrove
    counts different ones too (its first versions all occurrences) but ``The`` is none of
    them; dolma counts all occurrences of words without punctuation on them.
    """
    return len(STOP_WORDS.intersection(_WORD.findall(text.lower())))


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _each(function: Callable[[str], float]) -> Callable[[Units], Numbers]:
    return lambda units: np.fromiter(map(function, units.strings), np.float64, len(units))


def _number_of(unit: SubUnit) -> Callable[[Units], Numbers]:
    return lambda units: segments(units.text, unit).counts().astype(np.float64)


def _tokens(units: Units) -> Numbers:
    return _native.token_counts(units.text).astype(np.float64)


def _divide(part: Numbers, whole: Numbers) -> Numbers:
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


def _kinds(units: Units) -> Kinds:
    # Kept with the units, as their strings are: five shares of one text classify it once.
    kept: Kinds | None = vars(units).get("_kinds")
    if kept is None:
        kept = vars(units)["_kinds"] = Kinds(units.text)
    return kept


def _share(kinds: Kind, among: Kind = Kind.VISIBLE) -> Callable[[Units], Numbers]:
    return lambda units: _divide(_kinds(units).count(kinds), _kinds(units).count(among))


def _whitespace_words(units: Units) -> Numbers:
    return _kinds(units).words()


def _characters(units: Units) -> Numbers:
    return np.asarray(pc.utf8_length(units.text), dtype=np.float64)


def _mean_word_length(units: Units) -> Numbers:
    return _divide(_kinds(units).count(Kind.PRINTED), _kinds(units).words())


SURFACE: Mapping[str, SurfaceMeasure] = {
    "characters": SurfaceMeasure(_characters, "code points, whitespace too", "count"),
    "tokens": SurfaceMeasure(_tokens, "tokens as docs/tokens.md defines them", "count"),
    "lines": SurfaceMeasure(_number_of("line"), "lines that are not blank", "count"),
    "sentences": SurfaceMeasure(_number_of("sentence"), "sentences", "count"),
    "paragraphs": SurfaceMeasure(
        _number_of("paragraph"), "blocks between blank lines; lines where there is none", "count"
    ),
    "whitespace_words": SurfaceMeasure(
        _whitespace_words, "runs of what is not whitespace", "count"
    ),
    "mean_word_length": SurfaceMeasure(
        _mean_word_length, "characters a whitespace word", "characters"
    ),
    "symbol_share": SurfaceMeasure(
        _share(Kind.PUNCTUATION | Kind.SYMBOL),
        "punctuation and symbols (P*, S*; full-width too) of visible characters",
        "share",
    ),
    "punctuation_share": SurfaceMeasure(
        _share(Kind.PUNCTUATION), "punctuation (P*) of visible characters", "share"
    ),
    "digit_share": SurfaceMeasure(
        _share(Kind.DIGIT), "decimal digits of any script (Nd) of visible characters", "share"
    ),
    "upper_share": SurfaceMeasure(
        _share(Kind.UPPER, Kind.LETTER),
        "capitals (Lu) of letters, caseless ones too: ABC in a Chinese text is no shouting",
        "share",
    ),
    "letter_share": SurfaceMeasure(
        _share(Kind.LETTER | Kind.MARK),
        "letters and the marks that are written on them (L*, Mn, Mc) of visible characters",
        "share",
    ),
    "hash_word_ratio": SurfaceMeasure(
        _each(gopher_hash_word_ratio), "# a whitespace word (Gopher)", "ratio"
    ),
    "ellipsis_word_ratio": SurfaceMeasure(
        _each(gopher_ellipsis_word_ratio), "... and … a whitespace word (Gopher)", "ratio"
    ),
    "bullet_line_share": SurfaceMeasure(
        _each(gopher_bullet_line_share), "lines that begin with a bullet point (Gopher)", "share"
    ),
    "ellipsis_line_share": SurfaceMeasure(
        _each(gopher_ellipsis_line_share), "lines that end with ... or … (Gopher)", "share"
    ),
    "alphabetic_word_share": SurfaceMeasure(
        _each(gopher_alphabetic_word_share), "whitespace words with a letter (Gopher)", "share"
    ),
    "stop_words": SurfaceMeasure(
        _each(gopher_stop_words), "different ones of eight English stop words (Gopher)", "count"
    ),
}
"""Every surface measure by name: the columns of :func:`measures`."""

_EMPTY = pa.table({name: pa.array([], pa.float64()) for name in SURFACE})
