"""How text is prepared for a language model: a profile, the same in training and in judging.

Not a stage. A number from a model means nothing for text prepared in another way, so a
model names its profile, and perplexity is refused without one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias

from cleanpipe.filters.forms import normalized

ProfileName = Literal["words", "characters", "ccnet"]
Profile: TypeAlias = Callable[[str], list[list[str]]]
"""From a text to its sentences, each the list of its tokens; none of them is empty."""
IMPOSSIBLE: Mapping[ProfileName, tuple[str, ...]] = {
    "words": ("The", "In", "Der", "La", "El", "1", "2", "\u2581", "\u2581the", "\u2581de"),
    "characters": ("1", "2", "\u7684\u4eba", "\u4e2d\u56fd", "\u2581", "\u2581\u7684"),
    "ccnet": ("The", "In", "1", "2", "\u2581The", "\u2581In", "\u25811", "\u25812"),
}
"""Frequent tokens that no text has once it is prepared so: a model that knows one of them was
trained on text prepared in another way."""

_SENTENCE_END = re.compile(r"[。！？]|[.!?](?=\s)")
_DIGIT = re.compile(r"\d")
_WORD_OR_MARK = re.compile(r"\w+|\S")
_RUN_OR_CHARACTER = re.compile(r"[^\W\u3400-\u9fff]+|\S")
_ASCII_DIGITS = str.maketrans("123456789", "000000000")


def words(text: str) -> list[list[str]]:
    """For languages with spaces: NFKC, lower case, each digit ``0``, punctuation by itself.

    A token is a run of letters, digits, underscores and what else Python's ``\\w`` takes, or
    any other single character that is not white space.

    Args:
        text: a document.

    Returns:
        Its sentences as :func:`sentences` splits them, as lists of tokens.
    """
    # NFKC and lower-casing see nothing across a line break, so one call does for all sentences.
    prepared = _zeros(normalized("NFKC", "\n".join(sentences(text))).lower())
    return _tokens(_WORD_OR_MARK, prepared)


def characters(text: str) -> list[list[str]]:
    """For Chinese: NFKC, each digit ``0``, each Han character and punctuation mark by itself.

    Han is U+3400 to U+9FFF here, as it was in training. Case is kept, and other letters stay
    together in runs.

    Args:
        text: a document.

    Returns:
        Its sentences as :func:`sentences` splits them, as lists of tokens.
    """
    prepared = _zeros(normalized("NFKC", "\n".join(sentences(text))))
    return _tokens(_RUN_OR_CHARACTER, prepared)


def sentences(text: str) -> list[str]:
    """Split at line breaks, after ``。！？``, and after ``.!?`` with white space behind.

    Args:
        text: a document, before any normalisation: a full-width stop ``．`` ends nothing.

    Returns:
        The pieces, none with a line break; blank ones may be among them.
    """
    found = []
    for line in text.split("\n"):
        start = 0
        for end in _SENTENCE_END.finditer(line):
            found.append(line[start : end.end()])
            start = end.end()
        found.append(line[start:])
    return found


PROFILES: Mapping[str, Profile] = {"words": words, "characters": characters}
"""Those that need no model of their own to find the tokens."""


def unusable(name: object) -> str | None:
    """Why there is no profile of this name; None where there is one."""
    if isinstance(name, str) and name in IMPOSSIBLE:
        return None
    return f"expected one of {', '.join(IMPOSSIBLE)} as the profile, got {name!r}"


_MAP = str.maketrans(
    {
        **dict.fromkeys("\u201e\u201d\u201c\xab\xbb\u300d\u300c\u300a\u300b", '"'),
        **dict.fromkeys("\u2013\u2501\u25ba", "-"),
        **dict.fromkeys("\xb4\u2019", "'"),
        **dict.fromkeys("\uff0c\u3001", ","),
        **dict.fromkeys("\u2236\uff1a", ":"),
        **dict(zip("\u3002\uff1f\uff01\uff08\uff09\uff1b", ".?!();", strict=True)),
        **dict(zip("\uff5e\u3008\u3009\u3010\u3011\uff05", "~<>[]%", strict=True)),
        "\u2014": " - ",
        "\uff0e": ". ",
        "\u2026": "...",
        **{chr(code): None for code in (*range(32), *range(127, 160))},
    }
)


def ccnet(text: str) -> str:
    """CCNet's normalisation of a document to one line, before SentencePiece.

    White space goes from the ends; lower case; canonical decomposition without non-spacing marks
    (category Mn); each decimal digit (category Nd) is ``0``; 34 punctuation marks become those of
    ASCII; control characters (U+0000 to U+001F, U+007F to U+009F) go, line breaks among them, so
    that lines join without a space. Wenzek et al. 2020 (arXiv:1911.00359), section 3.4 and the
    program published with it.

    Args:
        text: a document.
    """
    lower = normalized("NFD", text.strip().lower())
    if not lower.isascii():
        lower = "".join(c for c in lower if unicodedata.category(c) != "Mn")
    return _DIGIT.sub("0", lower).translate(_MAP)


def _zeros(text: str) -> str:
    return text.translate(_ASCII_DIGITS) if text.isascii() else _DIGIT.sub("0", text)


def _tokens(pattern: re.Pattern[str], prepared: str) -> list[list[str]]:
    lines: Iterable[list[str]] = map(pattern.findall, prepared.split("\n"))
    return [line for line in lines if line]
