"""``gopher_repetition``: every rule of Rae et al. 2021, table A1, at its limit."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from cleanpipe.filters.gopher_repetition import GopherRepetition
from cleanpipe.surface import SURFACE

from .table import faults, made, table

RULES = [
    field.name for field in fields(GopherRepetition) if field.name not in ("min_tokens", "variant")
]


def only(*names: str, **others: Any) -> dict[str, Any]:
    """Parameters that turn every other rule off."""
    return {**{name: None for name in RULES if name not in names}, **others}


def words(*counts: int) -> str:
    """Different words of the same length: as many as the first count, then the second count
    times the first of them again, so that shares are those of tokens."""
    first, *again = counts
    every = [f"{chr(97 + at // 26)}{chr(97 + at % 26)}" for at in range(first)]
    return " ".join(every + [word for size in again for word in every[:size]])


LINES, LINE_CHARACTERS = only("duplicate_line_share"), only("duplicate_line_character_share")
PARAGRAPHS = only("duplicate_paragraph_share")
PARAGRAPH_CHARACTERS = only("duplicate_paragraph_character_share")
TOP = {n: only(f"top_{n}_gram_share") for n in (2, 3, 4)}
DUPLICATE = {n: only(f"duplicate_{n}_gram_share") for n in range(5, 11)}

DATATROVE, DOLMA = {"variant": "datatrove"}, {"variant": "dolma"}
ROWS = "".join(f"{letter}\n" for letter in "abcdefg")

test_gopher_repetition = table(
    GopherRepetition,
    [
        ("", {}, None),
        ("a" * 2**20, {}, None),
        ("word " * 50, {}, "top_2_gram_share"),
        ("word " * 50, only(), None),
        ("🎉🎉🎉 🎉🎉🎉", {}, None),
        # 3 of 10 lines, 3 of 9.
        (ROWS + "a\nb\nc\n", LINES, None),
        (ROWS[2:] + "b\nc\nd\n", LINES, "duplicate_line_share"),
        (ROWS.replace("\n", "\r\n") + "a\r\nb\r\nc", LINES, None),
        (ROWS[2:].replace("\n", "\r\n") + "b\nc\r\nd\n", LINES, "duplicate_line_share"),
        ("重复的一行。\n" * 2, LINES, "duplicate_line_share"),
        ("שורה\nשורה\n", LINES, "duplicate_line_share"),
        ("ไทย\nไทย\n", {}, "duplicate_line_share"),
        # 2 of 10 characters, 2 of 9.
        ("aa\nbbbbbb\naa\n", LINE_CHARACTERS, None),
        ("aa\nbbbbb\naa\n", LINE_CHARACTERS, "duplicate_line_character_share"),
        ("重复\n重复\n天地人和", LINE_CHARACTERS, "duplicate_line_character_share"),
        ("重复\n重复\n天地人和山水", LINE_CHARACTERS, None),
        (ROWS.replace("\n", "\n\n") + "a\n\nb\n\nc", PARAGRAPHS, None),
        (ROWS[2:].replace("\n", "\n\n") + "b\n\nc\n\nd", PARAGRAPHS, "duplicate_paragraph_share"),
        ("一段。\n\n一段。", PARAGRAPHS, "duplicate_paragraph_share"),
        ("aa\n\nbbbbbb\n\naa", PARAGRAPH_CHARACTERS, None),
        ("aa\n\nbbbbb\n\naa", PARAGRAPH_CHARACTERS, "duplicate_paragraph_character_share"),
        # Of tokens that are equally long, twice n in the most frequent n-gram, of all.
        (words(18, 2), TOP[2], None),
        (words(17, 2), TOP[2], "top_2_gram_share"),
        (words(31, 3), TOP[3], None),
        (words(30, 3), TOP[3], "top_3_gram_share"),
        (words(46, 4), TOP[4], None),
        (words(45, 4), TOP[4], "top_4_gram_share"),
        ("天地玄黄宇宙洪荒日月盈昃辰宿列张寒来天地", TOP[2], None),
        ("天地玄黄宇宙洪荒日月盈昃辰宿列张寒天地", TOP[2], "top_2_gram_share"),
        ("שלום עולם, שלום עולם", TOP[2], "top_2_gram_share"),
        # 2n of 2n / limit tokens.
        (words(62, 5), DUPLICATE[5], None),
        (words(61, 5), DUPLICATE[5], "duplicate_5_gram_share"),
        (words(80, 6), DUPLICATE[6], None),
        (words(79, 6), DUPLICATE[6], "duplicate_6_gram_share"),
        (words(101, 7), DUPLICATE[7], None),
        (words(100, 7), DUPLICATE[7], "duplicate_7_gram_share"),
        (words(126, 8), DUPLICATE[8], None),
        (words(125, 8), DUPLICATE[8], "duplicate_8_gram_share"),
        (words(155, 9), DUPLICATE[9], None),
        (words(154, 9), DUPLICATE[9], "duplicate_9_gram_share"),
        (words(190, 10), DUPLICATE[10], None),
        (words(189, 10), DUPLICATE[10], "duplicate_10_gram_share"),
        ("天地玄黄宇宙洪荒日月。天地玄黄宇", DUPLICATE[5], "duplicate_5_gram_share"),
        ("天地玄黄宇宙洪荒日月。天地玄黄", DUPLICATE[5], None),
        # The variants read one text in other ways.
        (words(20, 5), DUPLICATE[5], "duplicate_5_gram_share"),
        (words(20, 5), {**DUPLICATE[5], **DATATROVE}, None),
        (words(10, 5), {**DUPLICATE[5], **DATATROVE}, "datatrove_duplicate_5_gram_share"),
        (words(20, 5), {**DUPLICATE[5], **DOLMA}, None),
        (words(10, 5), {**DUPLICATE[5], **DOLMA}, "dolma_duplicate_5_gram_share"),
        ("a b a b", {**TOP[2], **DOLMA}, "dolma_top_2_gram_share"),
        (ROWS + "a\nb\nc\nd", {**LINES, **DOLMA}, "duplicate_line_share"),
    ],
)


@pytest.mark.parametrize("variant", ["paper", "datatrove", "dolma"])
def test_every_rule_is_on_by_default_and_can_be_turned_off(variant: str) -> None:
    members = made(GopherRepetition, {"variant": variant}).expand()
    assert [name for name, _ in members] == RULES
    prefix = "" if variant == "paper" else f"{variant}_"
    for name, rule in members:
        assert rule.of == (prefix + name if "gram" in name else name)
        assert rule.of in SURFACE
        left = [member for member, _ in made(GopherRepetition, {name: None}).expand()]
        assert left == [member for member in RULES if member != name]


def test_faults() -> None:
    assert faults(GopherRepetition, {"variant": "nemo"}) == [
        "variant: expected 'paper', 'datatrove' or 'dolma', got \"nemo\""
    ]
