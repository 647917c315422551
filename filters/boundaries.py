"""Where words begin and end, also in scripts without spaces. Not a stage."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import Literal

from icu4py.breakers import WordBreaker

Joint = Literal["open", "closed", "dictionary"]

# Scripts that ICU divides into words by its dictionaries: Chinese and Japanese, Thai, Lao,
# Khmer, Burmese. First and last code point of each range, ascending.
_DICTIONARY_RANGES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # ideographic iteration mark, closing mark and zero
    (0x3031, 0x3035),  # kana repeat marks
    (0x3041, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),  # Katakana extensions
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xA9E0, 0xA9FF),  # Myanmar extensions
    (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF),  # Han, compatibility
    (0xFF66, 0xFF9F),  # Katakana, half width
    (0x1AFF0, 0x1B16F),  # kana extensions
    (0x20000, 0x3FFFF),  # Han, supplementary planes
)
_FIRST = [first for first, _ in _DICTIONARY_RANGES]


@lru_cache(maxsize=1 << 16)
def joint(left: str, right: str) -> Joint:
    """Whether a word may end and another begin between two neighbouring characters.

    A token is a run of letters, marks and numbers. Between two characters of which one is
    none of these the joint is ``open``, inside a run ``closed``; where a script without
    spaces meets another script ``open`` too, except before a mark; between two characters of
    such scripts only the ``dictionary`` knows.
    """
    if not (in_token(left) and in_token(right)):
        return "open"
    both = unspaced(left) + unspaced(right)
    if both == 2:
        return "dictionary"
    return "closed" if both == 0 or unicodedata.category(right)[0] == "M" else "open"


_JOINS_DIGITS = frozenset(".,;:'\u2019")
_JOINS_LETTERS = frozenset(".:'\u2019\u00b7")


def goes_on(text: str, place: int) -> bool:
    """Whether a number or word goes on behind the punctuation before a place: ``13.|27``.

    So says UAX #29 in its rules WB6, WB7, WB11 and WB12: such a mark between two digits, or
    between two letters, divides nothing.
    """
    if not 2 <= place < len(text):
        return False
    before, mark, after = text[place - 2], text[place - 1], text[place]
    if before.isdigit() and after.isdigit():
        return mark in _JOINS_DIGITS
    letters = before.isalpha() and after.isalpha()
    return letters and mark in _JOINS_LETTERS and not unspaced(after)


def dictionary_breaks(line: str) -> frozenset[int]:
    """Where ICU's word breaker ends a word, as character offsets, both ends included.

    Its dictionaries are chosen by script, not by language. Costs about 1 s for 18 MB.
    """
    # The locale only adapts punctuation; the rules of the root are the same everywhere.
    ends = [end for _, end in WordBreaker(line, "root").segments()]
    if line and max(line) > "\uffff":  # ICU counts UTF-16 units
        places = {
            unit: place
            for place, unit in enumerate(
                accumulate((2 if char > "\uffff" else 1 for char in line), initial=0)
            )
        }
        ends = [places[end] for end in ends]
    return frozenset([0, *ends])


def in_token(char: str) -> bool:
    """Whether a character is a letter, mark or number."""
    return unicodedata.category(char)[0] in "LMN"


def unspaced(char: str) -> bool:
    """Whether a character is of a script that only a dictionary divides into words."""
    place = bisect_right(_FIRST, ord(char)) - 1
    return place >= 0 and ord(char) <= _DICTIONARY_RANGES[place][1]
