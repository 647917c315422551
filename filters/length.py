"""The ``length`` filter: how much text there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from cleanpipe.bounds import Bounds
from cleanpipe.limits import Limits


@dataclass(frozen=True)
class Length(Limits):
    """Drops texts that are too short or too long.

    Parameters (none has a default):
        tokens (also ``words``): bounds on tokens, which count Chinese, Japanese and Thai
            as well (docs/tokens.md).
        chars (also ``characters``): bounds on code points, whitespace too.
        lines: bounds on lines that are not blank.
        mean_word_length: bounds on characters a word, words being what whitespace divides:
            in Chinese a line or a sentence.
        sentences: bounds on sentences.
        paragraphs: bounds on blocks between blank lines; on lines where there is no blank line.

    Measures: ``tokens``, ``characters``, ``lines``, ``mean_word_length``, ``sentences``,
    ``paragraphs``, each where it is bounded.

    Elsewhere: Gopher's and C4's limits count words between whitespace, in which a Chinese
    page is a few words long: for those see ``gopher_quality`` and ``rule``.
    """

    kind: ClassVar[str] = "length"
    aliases: ClassVar[Mapping[str, str]] = {"words": "tokens", "characters": "chars"}
    measured: ClassVar[Mapping[str, str]] = {"chars": "characters"}

    tokens: Bounds | None = None
    chars: Bounds | None = None
    lines: Bounds | None = None
    mean_word_length: Bounds | None = None
    sentences: Bounds | None = None
    paragraphs: Bounds | None = None
