"""The ``olmo2_repetition`` set: spans that a document says again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from cleanpipe.bounds import Bounds
from cleanpipe.filters.rule import MeasureRule
from cleanpipe.stage import NamedSet, Stage


@dataclass(frozen=True)
class Olmo2Repetition(NamedSet):
    """Drops documents in which a span of tokens stands 32 times in a row, or more.

    Source: OLMo team 2024, "2 OLMo 2 Furious", section 3.1: documents with 32 or more
    repetitions of a span of 1 to 13 tokens made training unstable. Their tokens are those
    of their model's vocabulary; ours are words, and single characters in Chinese and other
    scripts without spaces, so a span is longer here.

    Parameters:
        span_repeats: default {below: 32}. Null: off.
    """

    kind: ClassVar[str] = "olmo2_repetition"

    span_repeats: Bounds | None = Bounds(None, 32, high_strict=True)

    def expand(self) -> Sequence[tuple[str, Stage]]:
        """One ``rule``."""
        return [(name, MeasureRule(name, bounds)) for name, bounds in self.bounded().items()]
