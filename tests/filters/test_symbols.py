"""``symbols``: shares of characters at their bounds, full-width, emoji and caseless scripts."""

from __future__ import annotations

from cleanpipe.filters.symbols import Symbols

from .table import faults, made, table

test_symbols = table(
    Symbols,
    [
        ("abcdefg!?.", {"symbol_share": [None, 0.3]}, None),
        ("abcdef!?.$", {"symbol_share": [None, 0.3]}, "symbol_share"),
        ("abcdefg!?.", {"symbol_share": {"below": 0.3}}, "symbol_share"),
        ("a b c d e f g ! ? .", {"symbol_share": [0.3, 0.3]}, None),
        ("", {"symbol_share": [None, 0]}, None),
        ("", {"letter_share": [0.1, None]}, "letter_share"),
        (" \n\t", {"symbol_share": [None, 0]}, None),
        ("word", {"symbol_share": [None, 0]}, None),
        ("a" * 1000 + "+", {"symbol_share": [None, 0]}, "symbol_share"),
        ("你好，世界！！", {"symbol_share": [None, 3 / 7]}, None),
        ("你好，世界！！", {"symbol_share": [None, 0.42]}, "symbol_share"),
        ("＋＝＜＞", {"symbol_share": [1, None]}, None),
        ("＋＝＜＞", {"punctuation_share": [None, 0]}, None),
        ("“quoted”", {"punctuation_share": [0.25, 0.25]}, None),
        ("❤️👨‍👩‍👧🇫🇷👍🏽", {"symbol_share": [1, None]}, None),
        ("❤️👨‍👩‍👧🇫🇷👍🏽", {"letter_share": [None, 0]}, None),
        ("a\u200b\u200b\u200b!", {"symbol_share": [0.5, 0.5]}, None),
        ("ab12", {"digit_share": [None, 0.5]}, None),
        ("ab123", {"digit_share": [None, 0.5]}, "digit_share"),
        ("１２٣४", {"digit_share": [1, 1]}, None),
        ("½²Ⅷ", {"digit_share": [None, 0]}, None),
        ("ABcd\r\n", {"upper_share": [0.5, 0.5]}, None),
        ("ABCd", {"upper_share": [None, 0.7]}, "upper_share"),
        ("中文文本 NASA", {"upper_share": [None, 0.5]}, None),
        ("مرحبا بالعالم", {"upper_share": [None, 0]}, None),
        ("مرحبا، بالعالم", {"letter_share": [12 / 13, 12 / 13]}, None),
        ("ภาษาไทยมีสระ", {"letter_share": [1, None]}, None),
        ("हिन्दी", {"letter_share": [1, None]}, None),
        ("A1!", {"symbol_share": [None, 0.3], "digit_share": [None, 0.3]}, "symbol_share"),
    ],
)


def test_only_what_is_bounded_is_taken() -> None:
    stage = made(Symbols, {"digit_share": [None, 0.5], "symbol_share": [None, 0.3]})
    assert stage.takes() == ("symbol_share", "digit_share")


def test_without_bounds_it_says_so() -> None:
    assert faults(Symbols, {}) == [
        ": expected bounds on at least one of symbol_share, punctuation_share, digit_share, "
        "upper_share, letter_share"
    ]
