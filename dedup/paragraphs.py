"""The ``paragraphs`` rewriter: takes out paragraphs or lines that occurred before in the corpus."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cleanpipe import _native
from cleanpipe.edits import REMOVED, removal
from cleanpipe.stage import CorpusRewriter, Edits, Measures, Repeats, Rule
from cleanpipe.text import buffers, segments
from cleanpipe.units import Units

_WHOLE = 2**62
"""Tokens of an n-gram that no text has: its one gram is of all its tokens."""


@dataclass(frozen=True)
class Paragraphs(CorpusRewriter):
    """Removes paragraphs or lines that occurred before, anywhere in the corpus.

    The first occurrence stays, in source order and then by its place in the document, and so do
    the separators that ``remove`` would leave; a document left empty is dropped with the rule
    ``empty``. Repetitions within a document count.

    As in CCNet (Wenzek et al. 2020, section 3.2) two units are the same if they are after
    normalisation, by a 64-bit hash: each digit is 0, case is folded, punctuation is apart. Here
    that is: their tokens are the same (docs/tokens.md), so spaces and symbols do not count
    either, nor whether a mark is ASCII, which decides in CCNet's code. Units without tokens stay.
    Among a billion different units the chance that any two share a hash is 2.7 %
    (n**2 / 2**65); the later one would be lost.

    CCNet's unit is the line. Its code removes within groups of shards, and by default the first
    occurrence too; here there are no groups.

    What occurs first in a document that a later stage drops is lost, so filters that drop
    documents had better come before.

    Parameters:
        unit: ``paragraph`` (default) or ``line`` (cleanpipe/text.py).
        min_tokens: units of fewer tokens stay. Default 1, as in CCNet: all that have any go.
            Headings and answers such as "Yes." are lost in this way; 10 keeps them, and of
            boilerplate what is short.

    Measures:
        removed_share: characters removed, separators too, over all; 0 for an empty text.
        removed_units: how many units went.
    """

    kind: ClassVar[str] = "paragraphs"

    unit: Literal["paragraph", "line"] = "paragraph"
    min_tokens: int = 1

    def check(self) -> Iterable[tuple[str, str]]:
        """That ``min_tokens`` is a number of tokens."""
        if self.min_tokens < 1:
            yield "min_tokens", f"expected at least 1, got {self.min_tokens}"

    def rules(self) -> tuple[Rule, ...]:
        """``repeated``: only occurrence 1 of the corpus stays."""
        return (Rule("repeated", "occurrence", "<= 1"),)

    def takes(self) -> tuple[str, ...]:
        """``removed_share`` and ``removed_units``."""
        return REMOVED

    def sketch(self, units: Units) -> pa.Table:
        """The units that have tokens enough, with the hash of these."""
        parts = segments(units.text, self.unit)
        texts = pc.replace_substring_regex(parts.texts, r"\p{Nd}", "0")
        offsets, hashes = _native.ngrams(texts, _WHOLE)
        enough = np.flatnonzero(_native.token_counts(texts) >= self.min_tokens)
        columns = (parts.document[enough], parts.start[enough], hashes[offsets[enough]])
        return pa.table([pa.array(c) for c in columns], names=["unit", "start", "hash"])

    def rewrite(self, units: Units, repeats: Repeats | None = None) -> tuple[Edits, Measures]:
        """One edit for each unit that occurred before."""
        parts = segments(units.text, self.unit)
        rule = np.zeros(len(parts), dtype=np.uint16)
        value = np.full(len(parts), np.nan)
        if repeats is not None:
            origin, _ = buffers(units.text)
            place = np.searchsorted(
                parts.start + origin[parts.document], repeats.start + origin[repeats.unit]
            )
            rule[place] = 1
            value[place] = repeats.occurrence
        return removal(units, parts, rule, value)
