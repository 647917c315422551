"""Changes that make a near-duplicate of a text: of characters, of punctuation, of width."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable, Sequence

Edit = Callable[[str, random.Random], str]

STRENGTHS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15)
_MARKS = "、。，．,.;；:：!！?？…"
_KATAKANA = {
    unicodedata.normalize("NFKC", chr(code)): chr(code) for code in range(0xFF66, 0xFF9E)
} | {"\u3099": "\uff9e", "\u309a": "\uff9f"}
_WIDER = {code: chr(code + 0xFEE0) for code in range(0x21, 0x7F)} | {0x20: "\u3000"}


def characters(share: float, letters: str) -> Edit:
    """Replace, delete or insert, a third each, at this share of the text's letters.

    Args:
        letters: what new ones are drawn from.
    """

    def edit(text: str, chance: random.Random) -> str:
        places = [place for place, letter in enumerate(text) if letter.isalnum()]
        pieces = list(text)
        for place in chance.sample(places, max(1, round(share * len(places)))):
            new = chance.choice(letters)
            pieces[place] = chance.choice([new, "", text[place] + new])
        return "".join(pieces)

    return edit


def punctuation(text: str, chance: random.Random) -> str:
    """Another mark or a line break in place of every mark."""
    return "".join(chance.choice(f"{_MARKS}\n") if mark in _MARKS else mark for mark in text)


def full_width(text: str, chance: random.Random) -> str:
    """Letters, digits and marks of ASCII, and spaces, as wide as a Chinese character."""
    return text.translate(_WIDER)


def half_width(text: str, chance: random.Random) -> str:
    """Katakana half as wide, their sound marks behind them."""
    return "".join(map(_narrow, text))


def _narrow(letter: str) -> str:
    parts = unicodedata.normalize("NFD", letter)
    return "".join(_KATAKANA[part] for part in parts) if _KATAKANA.keys() >= set(parts) else letter


def edits(texts: Sequence[str]) -> dict[str, Edit]:
    """Every kind of edit by its name.

    Args:
        texts: the letters in them are those that are put in, as often as they are there.
    """
    letters = "".join(letter for text in texts for letter in text if letter.isalnum())
    named: dict[str, Edit] = {
        f"{share:.1%} of characters": characters(share, letters) for share in STRENGTHS
    }
    return {
        "other punctuation": punctuation,
        "full-width ASCII": full_width,
        "half-width katakana": half_width,
        **named,
    }
