"""``gopher_quality``: every rule of Rae et al. 2021, A.1.1, at its limit."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from cleanpipe.filters.gopher_quality import GopherQuality
from cleanpipe.surface import SURFACE

from .table import faults, made, table

PROSE = "We have to be with the people of that town and stay there for good. "
"""15 words; all eight stop words."""


RULES = [
    field.name for field in fields(GopherQuality) if field.name not in ("min_tokens", "variant")
]


def only(*names: str, **others: Any) -> dict[str, Any]:
    """Parameters that turn every other rule off."""
    return {**{name: None for name in RULES if name not in names}, **others}


WORDS, LENGTH = only("whitespace_words"), only("mean_word_length")
HASH, ELLIPSIS = only("hash_word_ratio"), only("ellipsis_word_ratio")
BULLETS, LINE_ENDS = only("bullet_line_share"), only("ellipsis_line_share")
LETTERS, STOP = only("alphabetic_word_share"), only("stop_words")

DATATROVE = {"variant": "datatrove"}

test_gopher_quality = table(
    GopherQuality,
    [
        (PROSE * 4, {}, None),
        (PROSE * 4, only(), None),
        ("", {}, "whitespace_words"),
        ("", only(), None),
        ("word", {}, "whitespace_words"),
        ("a" * 5000, {}, "whitespace_words"),
        ("word " * 50, WORDS, None),
        ("word " * 49, WORDS, "whitespace_words"),
        ("word\r\n" * 50, WORDS, None),
        ("w " * 100_000, WORDS, None),
        ("w " * 100_001, WORDS, "whitespace_words"),
        ("w " * 100_001, {**WORDS, "whitespace_words": [50, None]}, None),
        ("abc " * 50, LENGTH, None),
        ("abc " * 49 + "ab", LENGTH, "mean_word_length"),
        ("abcdefghij " * 50, LENGTH, None),
        ("abcdefghij " * 49 + "abcdefghijk", LENGTH, "mean_word_length"),
        ("", LENGTH, "mean_word_length"),
        ("a # " + "a " * 8, HASH, None),
        ("a # " + "a " * 7, HASH, "hash_word_ratio"),
        ("##" + "a " * 20, HASH, None),
        ("###" + "a " * 20, HASH, "hash_word_ratio"),
        ("", HASH, None),
        ("a... " + "a " * 9, ELLIPSIS, None),
        ("a... " + "a " * 8, ELLIPSIS, "ellipsis_word_ratio"),
        ("a… " + "a " * 8, ELLIPSIS, "ellipsis_word_ratio"),
        ("a.. " + "a " * 8, ELLIPSIS, None),
        ("a....." + " a" * 9, ELLIPSIS, None),
        ("a......" + " a" * 9, ELLIPSIS, "ellipsis_word_ratio"),
        ("中文……没有空格", ELLIPSIS, "ellipsis_word_ratio"),
        ("• a\n" * 9 + "a", BULLETS, None),
        ("• a\n" * 10, BULLETS, "bullet_line_share"),
        ("  - a\r\n" * 10, BULLETS, "bullet_line_share"),
        ("• a\n\n" * 10, BULLETS, "bullet_line_share"),
        ("-5\n*note*\n–x\n", BULLETS, None),
        ("・項目\n" * 3, BULLETS, "bullet_line_share"),
        ("• פריט\n" * 3, BULLETS, "bullet_line_share"),
        ("", BULLETS, None),
        ("a…\n" * 3 + "a\n" * 7, LINE_ENDS, None),
        ("a... \r\n" * 3 + "a\r\n" * 6, LINE_ENDS, "ellipsis_line_share"),
        ("", LINE_ENDS, None),
        ("a b c d 1", LETTERS, None),
        ("a b c 1", LETTERS, "alphabetic_word_share"),
        ("a1 b2 c3 d4 --", LETTERS, None),
        ("天气 很好 ไทย שלום ½", LETTERS, None),
        ("🎉 🎉", LETTERS, "alphabetic_word_share"),
        ("", LETTERS, "alphabetic_word_share"),
        ("The end of it", STOP, None),
        ("the the the", STOP, "stop_words"),
        ("(that's) x-to-y", STOP, None),
        ("them bed too", STOP, "stop_words"),
        ("中文the，of文", STOP, None),
        ("", STOP, "stop_words"),
        # datatrove's words.
        (PROSE * 4, DATATROVE, None),
        ("", DATATROVE, "datatrove_words"),
        ("word " * 25 + "a-b " * 12, {**WORDS, **DATATROVE}, "datatrove_words"),
        ("word " * 24 + "a-b " * 13, {**WORDS, **DATATROVE}, None),
        ("word, " * 49 + "| |", {**WORDS, **DATATROVE}, "datatrove_words"),
        ("word\r\n" * 50, {**WORDS, **DATATROVE}, None),
        ("ab-abcd " * 25, {**LENGTH, **DATATROVE}, None),
        ("ab-abc " * 25, {**LENGTH, **DATATROVE}, "datatrove_mean_word_length"),
        ("abc | " * 25, {**LENGTH, **DATATROVE}, None),
        ("##" + "a, " * 9, {**HASH, **DATATROVE}, None),
        ("##" + "a, " * 8, {**HASH, **DATATROVE}, "datatrove_hash_word_ratio"),
        ("a... " + "a " * 8, {**ELLIPSIS, **DATATROVE}, None),
        ("a... " + "a " * 7, {**ELLIPSIS, **DATATROVE}, "datatrove_ellipsis_word_ratio"),
        ("a b c d.", {**LETTERS, **DATATROVE}, None),
        ("a b c.", {**LETTERS, **DATATROVE}, "datatrove_alphabetic_word_share"),
        ("天气 很好，真 的 呢。", {**LETTERS, **DATATROVE}, None),
        ("天气 很好，真 的。", {**LETTERS, **DATATROVE}, "datatrove_alphabetic_word_share"),
        ("שלום, עולם!", {**LETTERS, **DATATROVE}, "datatrove_alphabetic_word_share"),
        ("🎉🎉", {**LETTERS, **DATATROVE}, "datatrove_alphabetic_word_share"),
        ("the-of", {**STOP, **DATATROVE}, None),
        ("The end of it", {**STOP, **DATATROVE}, "datatrove_stop_words"),
        ("a" * 2**20, {**LETTERS, **DATATROVE}, None),
        ("• a\n" * 10, {**BULLETS, **DATATROVE}, "bullet_line_share"),
    ],
)


def test_every_rule_is_on_by_default_and_can_be_turned_off() -> None:
    members = [name for name, _ in made(GopherQuality, {}).expand()]
    assert members == RULES
    assert set(members) <= set(SURFACE)
    for name in members:
        left = [member for member, _ in made(GopherQuality, {name: None}).expand()]
        assert left == [member for member in members if member != name]
    assert made(GopherQuality, {"stop_words": [None, None], **only("stop_words")}).expand() == []


def test_variants() -> None:
    for variant, words in (("paper", "whitespace_words"), ("datatrove", "datatrove_words")):
        members = made(GopherQuality, {"variant": variant}).expand()
        assert [name for name, _ in members] == RULES
        assert members[0][1].of == words
        assert {rule.of for _, rule in members} <= set(SURFACE)
    assert faults(GopherQuality, {"variant": "nemo"}) == [
        "variant: expected 'paper' or 'datatrove', got \"nemo\""
    ]
