"""What models are given once more, slow and obvious, by Python's own tables."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import strategies as st

from .reference_tokens import SETS

_NEWER = {"L", "M", "N", "P", "S"}
UNSPACED = (
    (0x3040, 0x30FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
QUOTES, DASHES = "„”“«»」「《》", "–━►"
MARKS = {
    **dict.fromkeys(QUOTES, '"'), **dict.fromkeys(DASHES, "-"), "—": " - ", "…": "...", "．": ". ",
    "，": ",", "、": ",", "。": ".", "´": "'", "’": "'", "∶": ":", "：": ":", "？": "?",
    "！": "!", "（": "(", "）": ")", "；": ";", "～": "~", "〈": "<", "〉": ">", "【": "[",
    "】": "]", "％": "%",
}  # fmt: skip


def assigned(char: str) -> bool:
    """Whether Unicode 15, of which the kernels' tables are, and this Python know the character."""
    category = unicodedata.category(char)
    if category in ("Cn", "Cs"):
        return False
    # Of the other categories newer versions have nothing new.
    return category[0] not in _NEWER or ord(char) in SETS[category[0]]


def texts(size: int) -> st.SearchStrategy[str]:
    """Any text of characters that both know."""
    return st.text(st.characters(exclude_categories=("Cs", "Cn")).filter(assigned), max_size=size)


def ccnet(text: str) -> str:
    """CCNet's line, step by step."""
    line = text.strip().lower()
    line = "".join(c for c in unicodedata.normalize("NFD", line) if unicodedata.category(c) != "Mn")
    line = "".join("0" if c.isdecimal() else c for c in line)
    line = "".join(MARKS.get(c, c) for c in line)
    return "".join(c for c in line if not (ord(c) < 32 or 127 <= ord(c) < 160))


def part(
    text: str, characters: int, stretch: int = 0, *, spaced: bool = False, lowered: bool = False
) -> str:
    """The part of a text for a fastText model."""
    chosen = text
    if characters and len(text) > characters:
        stretches = characters // stretch if stretch else 0
        if stretches < 2:
            chosen = text[:characters]
        else:
            last = len(text) - stretch
            starts = [last * at // (stretches - 1) for at in range(stretches)]
            chosen = " ".join(text[start : start + stretch] for start in starts)
    chosen = re.sub("\n|</[sS]>" if lowered else "\n|</s>", " ", chosen)
    if not any(map(str.isalpha, chosen)):
        return ""
    if spaced:
        chosen = "".join(
            f" {c} " if any(low <= ord(c) <= high for low, high in UNSPACED) else c for c in chosen
        )
    cased = [c for c in chosen if ord(c) < 0x1F000]
    if lowered and sum(map(str.isupper, cased)) > sum(map(str.islower, cased)):
        chosen = chosen.lower()
    return chosen + "\n"
