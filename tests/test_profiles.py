"""Profiles against a slow reference that goes through the text character by character."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cleanpipe.filters.profiles import PROFILES, sentences, unusable

HARD = st.lists(
    st.sampled_from(
        list("aZ09_-'\"<>/ \t\n\r\v\f.!?。！？．｡…,;Σσς\0")
        + list("\u0301\u0307\u0338\u3099\u00a0\u2028\x1c\x85")
        + ["İ", "ß", "ﬁ", "½", "Ⅷ", "①", "Ａ", "１", "٣", "०", "中", "文", "㐀", "鿿", "豈", "𠀀"]
        + ["か", "ｶ", "ﾞ", "한", "ᄒ", "ᅡ", "ᆫ", "ำ", "😀", "\ufeff", "㍿", "<s>", "</s>"]
    ),
    max_size=40,
).map("".join)


def slow_sentences(text: str) -> list[str]:
    """A sentence ends at a line break; behind 。！？; behind .!? where white space follows."""
    found = [""]
    for at, char in enumerate(text):
        after = text[at + 1 : at + 2]
        if char == "\n":
            found.append("")
            continue
        found[-1] += char
        if char in "。！？" or (char in ".!?" and after.isspace()):
            found.append("")
    return [each for each in found if each.strip()]


def slow_tokens(sentence: str, profile: str) -> list[str]:
    """Every digit 0; every mark (and Han character, if so) gets a space on either side."""
    text = unicodedata.normalize("NFKC", sentence)
    if profile == "words":
        text = text.lower()
    spaced = ""
    for char in text:
        if char.isdecimal():
            spaced += "0"
        elif profile == "characters" and 0x3400 <= ord(char) <= 0x9FFF:
            spaced += f" {char} "
        elif char.isalnum() or char == "_" or char.isspace():
            spaced += char
        else:
            spaced += f" {char} "
    return spaced.split()


@pytest.mark.parametrize("profile", ["words", "characters"])
@settings(deadline=None, max_examples=500)
@given(text=st.one_of(HARD, st.text(max_size=60)))
@example(text="Σ.\nΣ")
@example(text="a.\u0301 b")
@example(text="．。 。")
@example(text="x=\u0338。\u0338y")
def test_against_the_reference(profile: str, text: str) -> None:
    expected = [slow_tokens(each, profile) for each in slow_sentences(text)]
    assert PROFILES[profile](text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t", []),
        ("Hello, World!", [["hello", ",", "world", "!"]]),
        ("It's 1,024.", [["it", "'", "s", "0", ",", "000", "."]]),
        ("One. Two? Three", [["one", "."], ["two", "?"], ["three"]]),
        ("v1.2.3 is out", [["v0", ".", "0", ".", "0", "is", "out"]]),
        ("a\nb", [["a"], ["b"]]),
        ("snake_case", [["snake_case"]]),
        ("ＦＵＬＬ　ｗｉｄｔｈ", [["full", "width"]]),
        ("<s> </s> <unk>", [["<", "s", ">", "<", "/", "s", ">", "<", "unk", ">"]]),
        ("\0", [["\0"]]),
    ],
)
def test_words(text: str, expected: list[list[str]]) -> None:
    assert PROFILES["words"](text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("他说：好。走！", [["他", "说", ":", "好", "。"], ["走", "!"]]),
        ("在2021年，GDP增长", [["在", "0000", "年", ",", "GDP", "增", "长"]]),
        ("ω-force开发", [["ω", "-", "force", "开", "发"]]),
        ("ひらがな漢字", [["ひらがな", "漢", "字"]]),
    ],
)
def test_characters(text: str, expected: list[list[str]]) -> None:
    assert PROFILES["characters"](text) == expected


def test_sentences_keep_every_character_but_line_breaks() -> None:
    text = "One. Two?!  三。四\n\nfive. "
    assert "".join(sentences(text)) == text.replace("\n", "")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wrods", "expected one of words, characters"),
        (None, "expected one of words, characters"),
        (3, "got 3"),
    ],
)
def test_unusable_profiles_are_refused(name: object, words: str) -> None:
    assert words in (unusable(name) or "")


def test_usable_profiles() -> None:
    assert [unusable(name) for name in PROFILES] == [None, None]
