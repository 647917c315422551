"""``fineweb``: every rule of Penedo et al. 2024, section 3.6, at its limit, which itself fails."""

from __future__ import annotations

from typing import Any

from cleanpipe.filters.fineweb import FineWeb

from .table import faults, made, table

RULES = ["terminal_punctuation_line_share", "duplicate_line_character_share", "short_line_share"]
NEWLINES = "newline_word_ratio"
"""datatrove's fourth."""
DATATROVE = {"variant": "datatrove"}


def only(name: str, **others: Any) -> dict[str, Any]:
    return {**{rule: None for rule in [*RULES, NEWLINES] if rule != name}, **others}


ENDS, REPEATS, SHORT = map(only, RULES)
LONG = "A line of thirty characters.ab"
assert len(LONG) == 30
CHINESE = "这一行恰好有三十个字所以它不算短行天地玄黄宇宙洪荒日月盈昃。"
assert len(CHINESE) == 30


def rows(*counts: tuple[str, int]) -> str:
    return "".join(f"{line}\n" * count for line, count in counts)


test_fineweb = table(
    FineWeb,
    [
        ("", {}, "terminal_punctuation_line_share"),
        ("", dict.fromkeys(RULES), None),
        ("word", {}, "terminal_punctuation_line_share"),
        ("word.", {}, "short_line_share"),
        ("a" * 2**20, {}, "terminal_punctuation_line_share"),
        ("a" * 2**20 + ".", {}, None),
        ("🎉🎉\n", {}, "terminal_punctuation_line_share"),
        (f"{LONG}\n{LONG}x.\n", {}, None),
        (f"{LONG}\r\n{LONG}x.\r\n", {}, None),
        (CHINESE + "\n" + CHINESE[1:] + "好", {}, None),
        # 3 of 25 lines are 0.12, 4 of 25 more.
        (rows(("a.", 3), ("a", 22)), ENDS, "terminal_punctuation_line_share"),
        (rows(("a.", 4), ("a", 21)), ENDS, None),
        (rows(("好。", 3), ("好", 22)), ENDS, "terminal_punctuation_line_share"),
        (rows(("好。", 4), ("好", 21)), ENDS, None),
        (rows(("مرحبا؟", 4), ("مرحبا", 21)), ENDS, None),
        (rows(("a.\r", 4), ("a\r", 21)), ENDS, None),
        (rows(("a.", 3), ("a", 22)), {**ENDS, **DATATROVE}, None),
        (rows(("a.", 2), ("a", 22)), {**ENDS, **DATATROVE}, "terminal_punctuation_line_share"),
        # 1 of 10 characters is 0.1, 1 of 11 less.
        ("a\na\nbbbbbbbb", REPEATS, "duplicate_line_character_share"),
        ("a\na\nbbbbbbbbb", REPEATS, None),
        ("好\n好\n天地玄黄宇宙洪荒", REPEATS, "duplicate_line_character_share"),
        ("好\n好\n天地玄黄宇宙洪荒日", REPEATS, None),
        ("a\na\n" + "b" * 98, {**REPEATS, **DATATROVE}, None),
        ("a\na\n" + "b" * 97, {**REPEATS, **DATATROVE}, "duplicate_line_character_share"),
        # 67 of 100 lines are 0.67.
        (rows((LONG[1:], 67), (LONG, 33)), SHORT, "short_line_share"),
        (rows((LONG[1:], 66), (LONG, 34)), SHORT, None),
        (rows((CHINESE[1:], 67), (CHINESE, 33)), SHORT, "short_line_share"),
        (rows((CHINESE[1:], 66), (CHINESE, 34)), SHORT, None),
        (rows((LONG[1:], 67), (LONG, 33)), {**SHORT, **DATATROVE}, None),
        (rows((LONG[1:], 68), (LONG, 32)), {**SHORT, **DATATROVE}, "short_line_share"),
        (rows((LONG[1:], 67), (LONG, 33)), {**SHORT, "short_line_share": [None, 0.9]}, None),
        ("a b c d e f g h i j\n\n\n", {**only(NEWLINES), **DATATROVE}, None),
        ("a b c d e f g h i j\n\n\n\n", {**only(NEWLINES), **DATATROVE}, NEWLINES),
        ("a b c d e f g h i j\n\n\n\n", only(NEWLINES), None),
    ],
)


def test_every_rule_is_on_by_default_and_can_be_turned_off() -> None:
    for variant, rules in (("paper", RULES), ("datatrove", [*RULES, NEWLINES])):
        chosen = {"variant": variant}
        assert [name for name, _ in made(FineWeb, chosen).expand()] == rules
        for name in rules:
            left = [member for member, _ in made(FineWeb, {**chosen, name: None}).expand()]
            assert left == [member for member in rules if member != name]


def test_faults() -> None:
    assert faults(FineWeb, {"variant": "ours", "short_line_share": "none"}) == [
        "variant: expected 'paper' or 'datatrove', got \"ours\"",
        "short_line_share: expected [low, high] with null for an open end, or a map of min, max, "
        "above, below or 'variant', got \"none\"",
    ]
