"""The ``length`` filter: how much text there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from cleanpipe.bounds import Bounds
from cleanpipe.stage import Filter, Rule


@dataclass(frozen=True)
class Length(Filter):
    """Drops texts that are too short or too long.

    Parameters:
        tokens (also ``words``): bounds on tokens, which count Chinese, Japanese and Thai
            as well (docs/tokens.md). Default: none.
        chars (also ``characters``): bounds on code points, whitespace too. Default: none.
        lines: bounds on lines that are not blank. Default: none.

    Measures: ``tokens``, ``characters``, ``lines``, each where it is bounded.

    Elsewhere: Gopher's and C4's limits count words between whitespace, in which a Chinese
    page is a few words long: for those see ``gopher_quality`` and ``rule``.
    """

    kind: ClassVar[str] = "length"
    aliases: ClassVar[Mapping[str, str]] = {"words": "tokens", "characters": "chars"}

    tokens: Bounds | None = None
    chars: Bounds | None = None
    lines: Bounds | None = None

    def check(self) -> Iterable[tuple[str, str]]:
        """That anything is bounded."""
        if not self.rules():
            yield "", "expected bounds on at least one of tokens, chars, lines"

    def rules(self) -> tuple[Rule, ...]:
        """``tokens``, ``chars``, ``lines``, each where it is bounded."""
        named = (
            ("tokens", "tokens", self.tokens),
            ("chars", "characters", self.chars),
            ("lines", "lines", self.lines),
        )
        return tuple(Rule(name, measure, bounds) for name, measure, bounds in named if bounds)
