"""The ``gopher_repetition`` set: the repetition rules of Gopher's MassiveWeb."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from cleanpipe.bounds import Bounds
from cleanpipe.filters.rule import MeasureRule
from cleanpipe.stage import NamedSet, Stage

_GRAMS = {"paper": "", "datatrove": "datatrove_", "dolma": "dolma_"}


@dataclass(frozen=True)
class GopherRepetition(NamedSet):
    """Drops documents that repeat their lines, paragraphs or phrases too much.

    Source: Rae et al. 2021, "Scaling Language Models: Methods, Analysis & Insights from
    Training Gopher", appendix A.1.1, repetition removal, table A1. The table gives limits
    above which a document goes, so the limit itself passes.

    Parameters; each but the first is a surface measure, null turns it off:
        variant: whose reading of the n-gram shares, which the paper leaves open: ``paper``
            (default), ``datatrove`` or ``dolma``. On one text they differ by a factor
            (docs/measures.md); the limits are the paper's for all three.
        duplicate_line_share: default [null, 0.3].
        duplicate_paragraph_share: default [null, 0.3].
        duplicate_line_character_share: default [null, 0.2].
        duplicate_paragraph_character_share: default [null, 0.2].
        top_2_gram_share, top_3_gram_share, top_4_gram_share: characters in the most
            frequent n-gram, default [null, 0.2], [null, 0.18], [null, 0.16].
        duplicate_5_gram_share: characters in 5-grams that occur more than once, default
            [null, 0.15]; and likewise
        duplicate_6_gram_share: default [null, 0.14].
        duplicate_7_gram_share: default [null, 0.13].
        duplicate_8_gram_share: default [null, 0.12].
        duplicate_9_gram_share: default [null, 0.11].
        duplicate_10_gram_share: default [null, 0.1].

    The limits are for words, as English has them. Over Chinese characters, of which an
    n-gram says far less, they reject clean prose: raise them, or put ``when: {language:
    en}`` beside it. The rules of lines and paragraphs hold for any language.
    """

    kind: ClassVar[str] = "gopher_repetition"

    variant: Literal["paper", "datatrove", "dolma"] = "paper"
    duplicate_line_share: Bounds | None = Bounds(None, 0.3)
    duplicate_paragraph_share: Bounds | None = Bounds(None, 0.3)
    duplicate_line_character_share: Bounds | None = Bounds(None, 0.2)
    duplicate_paragraph_character_share: Bounds | None = Bounds(None, 0.2)
    top_2_gram_share: Bounds | None = Bounds(None, 0.2)
    top_3_gram_share: Bounds | None = Bounds(None, 0.18)
    top_4_gram_share: Bounds | None = Bounds(None, 0.16)
    duplicate_5_gram_share: Bounds | None = Bounds(None, 0.15)
    duplicate_6_gram_share: Bounds | None = Bounds(None, 0.14)
    duplicate_7_gram_share: Bounds | None = Bounds(None, 0.13)
    duplicate_8_gram_share: Bounds | None = Bounds(None, 0.12)
    duplicate_9_gram_share: Bounds | None = Bounds(None, 0.11)
    duplicate_10_gram_share: Bounds | None = Bounds(None, 0.1)

    def expand(self) -> Sequence[tuple[str, Stage]]:
        """One ``rule`` for each parameter that bounds anything."""
        grams = _GRAMS[self.variant]
        return [
            (name, MeasureRule(grams + name if "_gram_" in name else name, bounds))
            for name, bounds in self.bounded().items()
        ]
