"""``olmo2_repetition``: 31 times in a row stay, 32 go."""

from __future__ import annotations

from cleanpipe.filters.olmo2_repetition import Olmo2Repetition

from .table import made, table

test_olmo2_repetition = table(
    Olmo2Repetition,
    [
        ("", {}, None),
        ("word", {}, None),
        ("word " * 31, {}, None),
        ("word " * 32, {}, "span_repeats"),
        ("Word word\r\n" * 16, {}, "span_repeats"),
        ("哈" * 31, {}, None),
        ("哈" * 32, {}, "span_repeats"),
        ("没有空格的话。" * 31, {}, None),
        ("没有空格的话。" * 32, {}, "span_repeats"),
        ("שלום עולם " * 32, {}, "span_repeats"),
        ("🎉" * 1000, {}, None),
        (" ".join("abcdefghijklm"), {}, None),
        ((" ".join("abcdefghijklm") + " ") * 32, {}, "span_repeats"),
        ((" ".join("abcdefghijklmn") + " ") * 32, {}, None),
        ("a" * 2**20, {}, None),
        ("word " * 40, {"span_repeats": [None, 40]}, None),
        ("word " * 40, {"span_repeats": None}, None),
    ],
)


def test_it_is_one_rule() -> None:
    assert [name for name, _ in made(Olmo2Repetition, {}).expand()] == ["span_repeats"]
