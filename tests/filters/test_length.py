"""``length``: tokens, characters and lines at their bounds, in scripts with and without spaces."""

from __future__ import annotations

from cleanpipe.filters.length import Length

from .table import faults, made, table

test_length = table(
    Length,
    [
        ("one two three", {"tokens": [3, None]}, None),
        ("one two", {"tokens": [3, None]}, "tokens"),
        ("one two three", {"tokens": {"above": 3}}, "tokens"),
        ("one two three", {"tokens": [None, 3]}, None),
        ("one two three four", {"tokens": [None, 3]}, "tokens"),
        ("one two", {"words": [3, None]}, "tokens"),
        ("", {"tokens": [1, None]}, "tokens"),
        ("", {"tokens": [0, None]}, None),
        ("word", {"tokens": [1, 1]}, None),
        ("a" * 1000, {"tokens": [2, None]}, "tokens"),
        ("🎉🎉🎉", {"tokens": [1, None]}, "tokens"),
        ("مرحبا بالعالم", {"tokens": [2, 2]}, None),
        ("天气很好", {"tokens": [4, 4]}, None),
        ("天气很好", {"tokens": [5, None]}, "tokens"),
        ("สวัสดี", {"tokens": [2, None]}, None),
        ("天气很好", {"chars": [4, 4]}, None),
        ("é" * 5, {"characters": [None, 5]}, None),
        ("🎉" * 6, {"characters": [None, 5]}, "chars"),
        ("  \n ", {"chars": [4, None]}, None),
        ("a\r\nb\r\n\r\nc", {"lines": [3, 3]}, None),
        ("a\r\nb\r\n\r\nc", {"lines": [4, None]}, "lines"),
        ("a\rb", {"lines": [2, None]}, "lines"),
        ("  \n\t\r\n\u3000", {"lines": [1, None]}, "lines"),
        ("", {"lines": [1, None]}, "lines"),
        ("abc de", {"mean_word_length": [None, 2.5]}, None),
        ("abc def", {"mean_word_length": [None, 2.5]}, "mean_word_length"),
        ("", {"mean_word_length": [3, None]}, "mean_word_length"),
        ("今天天气很好 是的", {"mean_word_length": [None, 4]}, None),
        ("今天天气很好 是", {"mean_word_length": [None, 3]}, "mean_word_length"),
        ("One. Two. Three.", {"sentences": [3, None]}, None),
        ("One. Two.", {"sentences": [3, None]}, "sentences"),
        ("今天天气很好。是的！好吗？", {"sentences": [3, 3]}, None),
        ("天气很好，是的", {"sentences": [2, None]}, "sentences"),
        ("", {"sentences": [1, None]}, "sentences"),
        ("a\nb\n\nc", {"paragraphs": [2, 2]}, None),
        ("a\r\nb\r\nc", {"paragraphs": [3, 3]}, None),
        ("甲\n乙\n\n丙", {"paragraphs": [3, None]}, "paragraphs"),
        ("字" * 350_000, {"paragraphs": [1, 1], "sentences": [1, 1]}, None),
        ("a b", {"tokens": [3, None], "chars": [4, None]}, "tokens"),
        ("a b c", {"tokens": [3, None], "chars": [6, None]}, "chars"),
    ],
)


def test_only_what_is_bounded_is_taken() -> None:
    assert made(Length, {"chars": [1, None]}).takes() == ("characters",)
    assert made(Length, {"tokens": [None, None], "lines": [1, 2]}).takes() == ("lines",)


def test_without_bounds_it_says_so() -> None:
    assert faults(Length, {}) == [
        ": expected bounds on at least one of tokens, chars, lines, mean_word_length, sentences, "
        "paragraphs"
    ]
    assert faults(Length, {"tokens": [None, None]})
