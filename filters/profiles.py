"""How text is prepared for a language model: a profile, the same in training and in judging.

Not a stage. A number from a model means nothing for text prepared in another way, so a
model names its profile, and perplexity is refused without one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias

from cleanpipe.filters.forms import normalized

ProfileName = Literal["words", "characters"]
Profile: TypeAlias = Callable[[str], list[list[str]]]
"""From a text to its sentences, each the list of its tokens; none of them is empty."""

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
_LATER = {"ccnet": "it is planned, and not there yet"}


def unusable(name: object) -> str | None:
    """Why there is no profile of this name; None where there is one."""
    if isinstance(name, str) and name in PROFILES:
        return None
    known = f"expected one of {', '.join(PROFILES)}"
    if isinstance(name, str) and name in _LATER:
        return f'the profile "{name}" cannot be used: {_LATER[name]}; {known}'
    return f"{known} as the profile, got {name!r}"


def _zeros(text: str) -> str:
    return text.translate(_ASCII_DIGITS) if text.isascii() else _DIGIT.sub("0", text)


def _tokens(pattern: re.Pattern[str], prepared: str) -> list[list[str]]:
    lines: Iterable[list[str]] = map(pattern.findall, prepared.split("\n"))
    return [line for line in lines if line]
