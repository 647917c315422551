"""The part of a text that a fastText model is given, slow and plain."""

from __future__ import annotations

import re

_UNSPACED = re.compile(
    "([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
)
_CASED_END = 0x1F000  # squared letters lie beyond, which are of no language


def part_of(text: str, characters: int, stretch: int) -> str:
    """Its first ``characters``, or as many stretches of that length as fit, evenly across it.

    Args:
        characters: 0 for the whole text.
        stretch: 0 for the beginning.
    """
    if not characters or len(text) <= characters:
        return text
    stretches = characters // stretch if stretch else 0
    if stretches < 2:
        return text[:characters]
    last = len(text) - stretch
    starts = [last * place // (stretches - 1) for place in range(stretches)]
    return " ".join(text[start : start + stretch] for start in starts)


def line_of(part: str, *, spaced: bool, lowered: bool) -> bytes:
    """A part as a line that is harmless for the model; empty where it has no letter."""
    part = part.replace("\n", " ").replace("</s>", " ")
    if not any(map(str.isalpha, part)):
        return b""
    cased = [char for char in part if ord(char) < _CASED_END]
    capitals, small = sum(map(str.isupper, cased)), sum(map(str.islower, cased))
    if spaced:
        part = _UNSPACED.sub(r" \1 ", part)
    if lowered and capitals > small:
        part = part.lower()
    return part.encode() + b"\n"
