"""The ``language_stop_words`` filter: whether a text is prose of its language."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe import _native
from cleanpipe.bounds import Bounds, Numbers
from cleanpipe.parameters import nearest
from cleanpipe.stage import Filter, Measures, Rule
from cleanpipe.units import Units

_LANGUAGE = "language"
_LISTS = Path(__file__).parent / "data" / "stop_words.json"
_ENGLISH = ("the", "be", "to", "of", "and", "that", "have", "with")


@dataclass(frozen=True)
class LanguageStopWords(Filter):
    """Drops texts that hold too few different stop words of their language.

    Source: Rae et al. 2021, "Scaling Language Models: Methods, Analysis & Insights from
    Training Gopher", appendix A.1.1, which asks for two of eight English words, here for other
    languages too. English has the paper's eight; the others 24 each, the most frequent ones of
    stopwords-iso (filters/data/NOTICE.md): of clean documentation in one language of at least
    50 tokens 24 leave out less than 1 %, eight up to 8 %, and more than 24 gain nothing.

    A word counts where it is a token (docs/tokens.md), in any case: one character in Chinese,
    and one kana in Japanese.

    Parameters:
        language: whose words, such as ``zh``; default null: each text's, as an earlier
            ``language`` stage has found it. Texts of other languages are not judged. Known:
            ar, cs, de, en, es, fa, fr, hi, id, it, ja, nl, pl, pt, ru, sv, tr, uk, zh.
        different: bounds on the number of different words. Default [2, null].

    Measures: different; none where there is no list for the language.
    """

    kind: ClassVar[str] = "language_stop_words"

    language: str | None = None
    different: Bounds = Bounds(2, None)

    def check(self) -> Iterable[tuple[str, str]]:
        """A language without a list."""
        if self.language is not None and self.language not in _hashes():
            known = nearest(self.language, _hashes())
            yield "language", f'no stop words for "{self.language}"; {known}'

    def needs(self) -> tuple[str, ...]:
        """The label, where no language is given."""
        return (_LANGUAGE,) if self.language is None else ()

    def rules(self) -> tuple[Rule, ...]:
        """One, where it is bounded."""
        return (Rule("different", "different", self.different),) if self.different else ()

    def takes(self) -> tuple[str, ...]:
        """``different``."""
        return ("different",)

    def measure(self, units: Units) -> Measures:
        """Count language by language."""
        if self.language is not None:
            return {"different": _different(units.text, _hashes()[self.language])}
        labels = units.value(_LANGUAGE)
        found = np.full(len(units), np.nan)
        for language in pc.unique(labels).to_pylist():
            if language in _hashes():
                rows = np.flatnonzero(np.asarray(pc.fill_null(pc.equal(labels, language), False)))
                some = units.text.take(pa.array(rows))
                found[rows] = _different(some, _hashes()[language])
        return {"different": found}


def _different(text: pa.LargeStringArray, words: npt.NDArray[np.uint64]) -> Numbers:
    """How many of these tokens each text has: float64, shape (n,)."""
    offsets, _, _, hashes = _native.tokens(text)
    place = np.minimum(np.searchsorted(words, hashes), len(words) - 1)
    met = np.flatnonzero(words[place] == hashes)
    document = np.searchsorted(offsets, met, "right") - 1
    pairs = np.unique(document * len(words) + place[met])
    return np.bincount(pairs // len(words), minlength=len(text)).astype(np.float64)


@cache
def _hashes() -> Mapping[str, npt.NDArray[np.uint64]]:
    """The words of each language as hashes of tokens, ascending."""
    lists = {**json.loads(_LISTS.read_text(encoding="utf-8")), "en": _ENGLISH}
    return {
        language: np.sort(_native.tokens(pa.array(words, pa.large_string()))[3])
        for language, words in sorted(lists.items())
    }
