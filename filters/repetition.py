"""The ``repetition`` filter: lines, paragraphs, words and phrases that come again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from cleanpipe import _native
from cleanpipe.bounds import Bounds, Flags, Numbers
from cleanpipe.limits import Limits
from cleanpipe.stage import Codes, Evidence, Measures, Rows, Rule
from cleanpipe.units import Units

Variant = Literal["paper", "datatrove", "dolma"]


@dataclass(frozen=True)
class Repetition(Limits):
    """Drops texts that repeat themselves, or (inside ``remove``) what their document said before.

    Gopher's measures (Rae et al. 2021, appendix A.1.1, table A1), as docs/measures.md defines
    them. They hold for any unit: on sentences the n-grams find words and phrases said twice.

    Parameters (none has a default: the paper's limits are those of English web pages, and over
    Chinese tokens reject good text):
        duplicate_line_share: bounds on lines that are equal to an earlier one, over lines.
        duplicate_line_character_share: bounds on the characters of these.
        duplicate_paragraph_share: bounds on paragraphs that are equal to an earlier one.
        duplicate_paragraph_character_share: bounds on the characters of these.
        top_2_gram_share, top_3_gram_share, top_4_gram_share: bounds on characters in the most
            frequent n-gram.
        duplicate_5_gram_share, duplicate_6_gram_share, duplicate_7_gram_share,
        duplicate_8_gram_share, duplicate_9_gram_share, duplicate_10_gram_share: bounds on
            characters in n-grams that occur more than once.
        span_repeats: bounds on how often a span of 1 to 13 tokens stands in a row; OLMo 2 (OLMo
            team 2024, section 3.1) drops at 32: ``{below: 32}``.
        variant: which reading of the n-gram shares is meant: ``paper`` (default), each character
            once, over those of tokens; or ``datatrove`` or ``dolma``, as those tools count,
            which differ by a factor.
        against: ``document`` for ``share``: what a paragraph, line or sentence is compared with.
        share: bounds on the n-grams of a unit, counted as often as they occur, that occur in an
            earlier unit of its document too, over its n-grams; 0 where it has no token. An
            earlier unit counts though it is itself removed here, but not where a filter before
            this one in ``failing`` has removed it.
        ngram: tokens a gram, for ``share``; a unit of fewer is one gram of its own length, and so
            is found where an earlier unit is the same.

    Measures: those that are bounded, under the names of the parameters, with ``datatrove_`` or
    ``dolma_`` before those of n-grams in these variants; and ``seen_share`` for ``share``, with
    the first passage that was there before as evidence. Where units are whole documents there
    is nothing earlier: ``share`` is refused there, and from Python it is 0.
    """

    kind: ClassVar[str] = "repetition"
    measured: ClassVar[Mapping[str, str]] = {"share": "seen_share"}

    duplicate_line_share: Bounds | None = None
    duplicate_line_character_share: Bounds | None = None
    duplicate_paragraph_share: Bounds | None = None
    duplicate_paragraph_character_share: Bounds | None = None
    top_2_gram_share: Bounds | None = None
    top_3_gram_share: Bounds | None = None
    top_4_gram_share: Bounds | None = None
    duplicate_5_gram_share: Bounds | None = None
    duplicate_6_gram_share: Bounds | None = None
    duplicate_7_gram_share: Bounds | None = None
    duplicate_8_gram_share: Bounds | None = None
    duplicate_9_gram_share: Bounds | None = None
    duplicate_10_gram_share: Bounds | None = None
    span_repeats: Bounds | None = None
    variant: Variant = "paper"
    against: Literal["document"] | None = None
    share: Bounds | None = None
    ngram: int | None = None

    def check(self) -> Iterable[tuple[str, str]]:
        """That anything is bounded; that what belongs together is there together."""
        yield from super().check()
        if self.variant != "paper" and not any("_gram_" in name for name in self.bounded()):
            yield "variant", "changes n-gram shares only, and none is bounded"
        if self.ngram is not None and self.ngram < 1:
            yield "ngram", f"expected at least 1, got {self.ngram}"
        if not self.share:
            for name in ("against", "ngram"):
                if getattr(self, name) is not None:
                    yield name, "belongs to share, which is not bounded"
            return
        if self.against is None:
            yield "share", "expected against: document beside it"
        if self.ngram is None:
            yield "share", "expected ngram beside it, the number of tokens a gram"

    def within_documents(self) -> bool:
        """Where ``share`` is bounded."""
        return bool(self.share)

    def rules(self) -> tuple[Rule, ...]:
        """One for each parameter that is bounded, in their order."""
        prefix = "" if self.variant == "paper" else f"{self.variant}_"
        return tuple(
            replace(rule, measure=f"{prefix}{rule.measure}") if "_gram_" in rule.measure else rule
            for rule in super().rules()
        )

    def measure(self, units: Units) -> Measures:
        """Surface measures; and what was seen before, with where the first of it is."""
        taken = {name: units.number(name) for name in self.takes() if name != "seen_share"}
        return taken | self._seen(units) if self.share else taken

    def evidence(self, units: Units, codes: Codes, measures: Measures) -> Sequence[Evidence | None]:
        """For ``share`` the first passage that an earlier unit has too."""
        rules = self.rules()
        mine = [rules[code - 1].measure == "seen_share" for code in codes.tolist()]
        if not any(mine):
            return [None] * len(units)
        offsets, starts, ends, _ = _native.tokens(units.text)
        shown: list[Evidence | None] = []
        for row, text in enumerate(units.strings):
            first, behind = (int(measures[name][row]) for name in ("seen_from", "seen_to"))
            if not mine[row] or first == behind:
                shown.append(None)
                continue
            last = min(offsets[row] + behind + (self.ngram or 1) - 1, offsets[row + 1]) - 1
            start, end = int(starts[offsets[row] + first]), int(ends[last])
            shown.append(Evidence(text.encode()[start:end].decode(), start, end))
        return shown

    def _seen(self, units: Units) -> dict[str, Numbers]:
        """``seen_share``; and the first run of grams seen before: from, to, counted in the unit."""
        share, first, behind = np.zeros((3, len(units)))
        if units.document is not None and self.ngram is not None:
            offsets, hashes = _native.ngrams(units.text, self.ngram)
            counts = np.diff(offsets)
            unit = np.repeat(np.arange(len(units)), counts)
            seen = _occurred_before(hashes, unit, units.document[unit])
            np.divide(
                np.bincount(unit[seen], minlength=len(units)), counts, share, where=counts > 0
            )
            begins, ends = _runs(seen, unit)
            owner, which = np.unique(unit[begins], return_index=True)
            first[owner] = begins[which] - offsets[owner]
            behind[owner] = ends[which] - offsets[owner]
        return {"seen_share": share, "seen_from": first, "seen_to": behind}


def _occurred_before(hashes: npt.NDArray[np.uint64], unit: Rows, document: Rows) -> Flags:
    """Whether each gram occurs in an earlier unit of its document; units ascend with documents."""
    # Stable, so equal grams stay in order of units, and those of a document together.
    order = np.argsort(hashes, kind="stable")
    hashes, unit_in, document = hashes[order], unit[order], document[order]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (hashes[1:] != hashes[:-1]) | (document[1:] != document[:-1])
    original = np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
    seen = np.empty(len(order), np.bool_)
    seen[order] = unit_in[original] < unit_in
    return seen


def _runs(seen: Flags, unit: Rows) -> tuple[Rows, Rows]:
    """Where runs of seen grams in one unit begin, and behind them."""
    joined = np.zeros(len(seen) + 1, np.bool_)  # with the gram before
    joined[1:-1] = seen[1:] & seen[:-1] & (unit[1:] == unit[:-1])
    return np.flatnonzero(seen & ~joined[:-1]), np.flatnonzero(seen & ~joined[1:]) + 1
