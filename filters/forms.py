"""Unicode's normalisation forms in linear time. Not a stage."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Literal, TypeAlias

Form: TypeAlias = Literal["NFC", "NFKC", "NFD", "NFKD"]

LONG = 32
"""Marks on one letter, beyond which they are put in order here: Python takes quadratic time."""
_SHORT = 1024
"""Characters of a text that is not searched for so many: it cannot cost much."""


def normalized(form: Form, text: str) -> str:
    """``unicodedata.normalize``, also of texts with many marks in a row."""
    if len(text) > _SHORT and not text.isascii():
        text = _long_rows().sub(lambda found: in_order(form, found[0]), text)
    return unicodedata.normalize(form, text)


def in_order(form: Form, text: str) -> str:
    """The text decomposed, as ``form`` does, its marks in the order that all forms have."""
    parts = "".join(unicodedata.normalize("NFKD" if "K" in form else "NFD", c) for c in text)
    ordered: list[str] = []
    for row in _rows(parts):
        ordered += sorted(row, key=unicodedata.combining)
    return "".join(ordered)


def _rows(text: str) -> Iterator[str]:
    """The text in parts, each a starter or a row of marks."""
    start = 0
    for at, character in enumerate(text):
        if not unicodedata.combining(character):
            yield text[start:at]
            yield character
            start = at + 1
    yield text[start:]


@cache
def _long_rows() -> re.Pattern[str]:
    """More than :data:`LONG` characters that are marks, or begin with one where decomposed."""
    marks = (
        char
        for char in map(chr, range(0x30000))  # no marks beyond
        if (unicodedata.combining(char) or unicodedata.decomposition(char))  # the others stay
        and unicodedata.combining(unicodedata.normalize("NFKD", char)[0])
    )
    return re.compile(f"[{''.join(marks)}]{{{LONG + 1},}}")
