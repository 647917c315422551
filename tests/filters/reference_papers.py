"""Named sets once more, slow and obvious, from the papers' words; nothing of the filters is used.

Each function takes a text and says which rules of its paper it breaks, by the names of the set's
parameters, in order. What the papers leave open (tokens, sentences, which marks are bullets or
end a sentence) is as docs/measures.md and docs/tokens.md have it, by the slow references of
tests/native.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from tests.native import reference_segments, reference_tokens

Token = tuple[int, int]
"""Hash of the folded token, and its length in characters."""


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def paragraphs(text: str) -> list[str]:
    return [paragraph.strip() for paragraph in reference_segments.paragraphs(text)]


def tokens(text: str) -> list[Token]:
    data = text.encode()
    return [
        (token.hash, len(data[token.start : token.end].decode()))
        for token in reference_tokens.tokens(text)
    ]


def share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def broken(rules: Iterable[tuple[str, bool]]) -> list[str]:
    """The names of rules that do not hold."""
    return [name for name, holds in rules if not holds]


# ---- Rae et al. 2021, A.1.1, quality filtering ----

STOP_WORDS = ["the", "be", "to", "of", "and", "that", "have", "with"]
BULLETS = "•‣⁃◦∙▪▫■□●○▶◀・"


def gopher_quality(text: str) -> list[str]:
    """ "any document that does not contain between 50 and 100,000 words, or whose mean word length
    is outside the range of 3 to 10 characters; ... a symbol-to-word ratio greater than 0.1 for
    either the hash symbol or the ellipsis; ... more than 90% of lines starting with a bullet
    point, or more than 30% ending with an ellipsis. ... 80% of words in a document contain at
    least one alphabetic character, ... at least two of the following English words" """
    words, rows = text.split(), lines(text)
    said = {token.folded for token in reference_tokens.tokens(text)}
    bullets = [row for row in rows if row[0] in BULLETS or re.match(r"[-*–](\s|$)", row)]
    ellipses = [row for row in rows if row.endswith(("...", "…"))]
    lettered = [
        word
        for word in words
        if any(ord(character) in reference_tokens.SETS["L"] for character in word)
    ]
    marks = text.count("...") + text.count("…")
    return broken(
        [
            ("whitespace_words", 50 <= len(words) <= 100_000),
            ("mean_word_length", 3 <= share(sum(map(len, words)), len(words)) <= 10),
            ("hash_word_ratio", share(text.count("#"), len(words)) <= 0.1),
            ("ellipsis_word_ratio", share(marks, len(words)) <= 0.1),
            ("bullet_line_share", share(len(bullets), len(rows)) <= 0.9),
            ("ellipsis_line_share", share(len(ellipses), len(rows)) <= 0.3),
            ("alphabetic_word_share", share(len(lettered), len(words)) >= 0.8),
            ("stop_words", sum(word in said for word in STOP_WORDS) >= 2),
        ]
    )


# ---- Rae et al. 2021, A.1.1, repetition removal, table A1 ----


def later(units: Sequence[str]) -> list[str]:
    """The duplicates: units that stood there before."""
    first: dict[str, int] = {}
    return [unit for at, unit in enumerate(units) if first.setdefault(unit, at) < at]


def places(all_tokens: Sequence[Token], n: int) -> dict[tuple[int, ...], list[int]]:
    """Where each n-gram begins."""
    found: dict[tuple[int, ...], list[int]] = {}
    for at in range(len(all_tokens) - n + 1):
        found.setdefault(tuple(hash_ for hash_, _ in all_tokens[at : at + n]), []).append(at)
    return found


def covered(all_tokens: Sequence[Token], n: int, begins: Iterable[int]) -> float:
    """The share of characters inside n-grams that begin there, each once."""
    inside = {place for at in begins for place in range(at, at + n)}
    whole = sum(length for _, length in all_tokens)
    return share(sum(all_tokens[place][1] for place in inside), whole)


TABLE_A1 = {2: 0.20, 3: 0.18, 4: 0.16, 5: 0.15, 6: 0.14, 7: 0.13, 8: 0.12, 9: 0.11, 10: 0.10}


def gopher_repetition(text: str) -> list[str]:
    """ "the limit above which a document is considered as having too much repetitive content" """
    rows, blocks, every = lines(text), paragraphs(text), tokens(text)
    rules = [
        ("duplicate_line_share", share(len(later(rows)), len(rows)) <= 0.30),
        ("duplicate_paragraph_share", share(len(later(blocks)), len(blocks)) <= 0.30),
        (
            "duplicate_line_character_share",
            share(sum(map(len, later(rows))), sum(map(len, rows))) <= 0.20,
        ),
        (
            "duplicate_paragraph_character_share",
            share(sum(map(len, later(blocks))), sum(map(len, blocks))) <= 0.20,
        ),
    ]
    for n, limit in TABLE_A1.items():
        grams = places(every, n)
        if n <= 4:
            counts = Counter({gram: len(begins) for gram, begins in grams.items()})
            begins = grams[counts.most_common(1)[0][0]] if grams else []
            rules.append((f"top_{n}_gram_share", covered(every, n, begins) <= limit))
        else:
            begins = [at for found in grams.values() if len(found) > 1 for at in found]
            rules.append((f"duplicate_{n}_gram_share", covered(every, n, begins) <= limit))
    return broken(rules)


# ---- Penedo et al. 2024, section 3.6 ----

STOPS = ".!?。！？…｡‼⁇⁈⁉।॥؟۔։።၊။។៕"
QUOTES = "\"'”’»›」』〞＂＇"


def fineweb(text: str) -> list[str]:
    """ "Remove documents where the fraction of lines ending with punctuation is <= 0.12; ... the
    fraction of characters in duplicated lines >= 0.1; ... the fraction of lines shorter than 30
    characters >= 0.67" """
    rows = lines(text)
    ended = [row for row in rows if row[-1] in STOPS + QUOTES]
    characters = sum(map(len, rows))
    return broken(
        [
            ("terminal_punctuation_line_share", not share(len(ended), len(rows)) <= 0.12),
            (
                "duplicate_line_character_share",
                not share(sum(map(len, later(rows))), characters) >= 0.1,
            ),
            ("short_line_share", not share(sum(len(row) < 30 for row in rows), len(rows)) >= 0.67),
        ]
    )


# ---- Raffel et al., JMLR 21 (2020), section 2.2 ----

POLICIES = [
    "terms of use",
    "privacy policy",
    "cookie policy",
    "uses cookies",
    "use of cookies",
    "use cookies",
]


def says(phrase: str, text: str) -> bool:
    return re.search(re.escape(phrase), text, re.IGNORECASE) is not None


def c4(
    text: str, words: int = 5, sentences: int = 3, newer: bool = True
) -> tuple[list[str], list[str]]:
    """The lines that are left of a page, and the rules that these break.

    "We only retained lines that ended in a terminal punctuation mark ... discarded any page with
    fewer than 3 sentences and only retained lines that contained at least 5 words ... removed any
    line with the word Javascript ... removed any page where the phrase 'lorem ipsum' appeared ...
    any pages that contained a curly bracket ... we removed any such [citation] markers ... any
    lines containing the strings 'terms of use', ..."
    """
    if newer:
        text = re.sub(r"\[[0-9]*\]|\[edit\]|\[citation needed\]", "", text)
    left = [
        row
        for row in lines(text)
        if row[-1] in STOPS + QUOTES
        and len(row.split()) >= words
        and not says("javascript", row)
        and not (newer and any(says(policy, row) for policy in POLICIES))
    ]
    page = "\n".join(left)
    return left, broken(
        [
            ("sentences", sum(len(reference_segments.sentences(row)) for row in left) >= sentences),
            ("lorem_ipsum", not says("lorem ipsum", page)),
            ("curly_brackets", "{" not in page and "}" not in page),
        ]
    )


# ---- OLMo team 2024, section 3.1 ----


def olmo2_repetition(text: str) -> list[str]:
    """32 or more repetitions of a span of 1 to 13 tokens."""
    hashes = [hash_ for hash_, _ in tokens(text)]
    for size in range(1, 14):
        for at in range(len(hashes) - 32 * size + 1):
            span = hashes[at : at + size]
            if hashes[at] == hashes[at + size] and hashes[at : at + 32 * size] == 32 * span:
                return ["span_repeats"]
    return []
