"""The ``gopher_quality`` set: the document rules of Gopher's MassiveWeb."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from cleanpipe.bounds import Bounds
from cleanpipe.filters.rule import MeasureRule
from cleanpipe.stage import NamedSet, Stage

_DATATROVE = {
    "whitespace_words": "datatrove_words",
    "mean_word_length": "datatrove_mean_word_length",
    "hash_word_ratio": "datatrove_hash_word_ratio",
    "ellipsis_word_ratio": "datatrove_ellipsis_word_ratio",
    "alphabetic_word_share": "datatrove_alphabetic_word_share",
    "stop_words": "datatrove_stop_words",
}
"""What datatrove measures where it has other words; lines are the same."""


@dataclass(frozen=True)
class GopherQuality(NamedSet):
    """Keeps documents that look like English prose.

    Source: Rae et al. 2021, "Scaling Language Models: Methods, Analysis & Insights from
    Training Gopher", appendix A.1.1, quality filtering. Every limit there lets the value
    itself pass ("greater than 0.1", "more than 90%", "at least two"), and so it does here.

    Parameters, in the order of the paper; each but the first is a surface measure, null turns
    it off:
        variant: whose words are counted: ``paper`` (default), what whitespace divides; or
            ``datatrove``, English words with most punctuation marks as words of their own
            (docs/measures.md). The limits are the paper's for both.
        whitespace_words: default [50, 100000].
        mean_word_length: default [3, 10].
        hash_word_ratio: ``#`` a word, default [null, 0.1].
        ellipsis_word_ratio: ``...`` and ``…`` a word, default [null, 0.1].
        bullet_line_share: default [null, 0.9].
        ellipsis_line_share: default [null, 0.3].
        alphabetic_word_share: default [0.8, null].
        stop_words: different ones of *the, be, to, of, and, that, have, with*, default
            [2, null].

    The paper leaves open what a word, a bullet point and a line are: docs/measures.md
    says what they are here, and where datatrove and dolma deviate (dolma also takes the
    median word length, not the mean). Words are what whitespace divides, so that scripts
    without spaces fail nearly all of it: put ``when: {language: en}`` beside it.
    """

    kind: ClassVar[str] = "gopher_quality"

    variant: Literal["paper", "datatrove"] = "paper"
    whitespace_words: Bounds | None = Bounds(50, 100_000)
    mean_word_length: Bounds | None = Bounds(3, 10)
    hash_word_ratio: Bounds | None = Bounds(None, 0.1)
    ellipsis_word_ratio: Bounds | None = Bounds(None, 0.1)
    bullet_line_share: Bounds | None = Bounds(None, 0.9)
    ellipsis_line_share: Bounds | None = Bounds(None, 0.3)
    alphabetic_word_share: Bounds | None = Bounds(0.8, None)
    stop_words: Bounds | None = Bounds(2, None)

    def expand(self) -> Sequence[tuple[str, Stage]]:
        """One ``rule`` for each parameter that bounds anything."""
        measures = _DATATROVE if self.variant == "datatrove" else {}
        return [
            (name, MeasureRule(measures.get(name, name), bounds))
            for name, bounds in self.bounded().items()
        ]
