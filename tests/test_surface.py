"""The surface measures, against slow, obvious Python; and all that ``measures`` accepts."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleanpipe.surface import SURFACE, measure, measures
from cleanpipe.units import Units

from .test_text import reference

NAMES = (
    "characters",
    "tokens",
    "lines",
    "sentences",
    "paragraphs",
    "whitespace_words",
    "mean_word_length",
    "symbol_share",
    "punctuation_share",
    "digit_share",
    "upper_share",
    "letter_share",
    "hash_word_ratio",
    "ellipsis_word_ratio",
    "bullet_line_share",
    "ellipsis_line_share",
    "alphabetic_word_share",
    "stop_words",
)


def taken(name: str, text: str) -> float:
    return float(measure(Units(pa.array(["x.", text, "Y 1"], pa.large_string())), name)[1])


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        *((name, "", 0) for name in NAMES),
        *((name, " \u3000", 0) for name in NAMES if name != "characters"),
        ("characters", "é🎉\r\n", 4),
        ("tokens", "Hello, 世界! สวัสดี", 7),
        ("lines", "a\r\n\r\nb\n", 2),
        ("sentences", "One. Two.\n三。四", 4),
        ("paragraphs", "a\nb\n\nc", 2),
        ("whitespace_words", "a\u00a0b\u200bc  d", 3),
        ("mean_word_length", "ab abcd", 3),
        ("mean_word_length", "天气很好", 4),
        ("symbol_share", "a+b!", 0.5),
        ("symbol_share", "👩‍👩‍👧", 1),
        ("punctuation_share", "a+b!", 0.25),
        ("digit_share", "१２3a", 0.75),
        ("upper_share", "ABc", 2 / 3),
        ("upper_share", "A中", 0.5),
        ("upper_share", "ǅ", 0),
        ("upper_share", "123", 0),
        ("letter_share", "สวัสดี!", 6 / 7),
        ("hash_word_ratio", "# a ##", 1),
        ("ellipsis_word_ratio", "a... b…", 1),
        ("ellipsis_word_ratio", "a....... b", 1),
        ("bullet_line_share", "• a\n- b\n* c\n– d\n-\nx\n-y\n+ z", 5 / 8),
        ("ellipsis_line_share", "a…\nb...  \n\nc..\n", 2 / 3),
        ("alphabetic_word_share", "a1 12 é —", 0.5),
        ("stop_words", "THE and the, with_ offer", 3),
    ],
)
def test_values(name: str, text: str, value: float) -> None:
    assert taken(name, text) == value


def test_the_names_are_fixed_and_described() -> None:
    assert tuple(SURFACE) == NAMES
    assert all("." not in name for name in SURFACE)
    assert all(found.description and found.unit for found in SURFACE.values())


def share(of: Callable[[str], bool], among: Callable[[str], bool]) -> Callable[[str], float]:
    def shared(text: str) -> float:
        whole = sum(map(among, text))
        return sum(of(character) for character in text) / whole if whole else 0.0

    return shared


def is_a(*categories: str) -> Callable[[str], bool]:
    def test(character: str) -> bool:
        return unicodedata.category(character).startswith(categories) and not is_selector(character)

    return test


def is_selector(character: str) -> bool:
    return "VARIATION SELECTOR-" in unicodedata.name(character, "")


def is_visible(character: str) -> bool:
    format_ = unicodedata.category(character) == "Cf" or is_selector(character)
    return not (character.isspace() or format_)


def mean_word_length(text: str) -> float:
    return sum(map(len, text.split())) / len(text.split()) if text.split() else 0.0


SLOW: dict[str, Callable[[str], float]] = {
    "characters": len,
    "lines": lambda text: len(reference(text, "line")),
    "sentences": lambda text: len(reference(text, "sentence")),
    "paragraphs": lambda text: len(reference(text, "paragraph")),
    "whitespace_words": lambda text: len(text.split()),
    "mean_word_length": mean_word_length,
    "symbol_share": share(is_a("P", "S"), is_visible),
    "punctuation_share": share(is_a("P"), is_visible),
    "digit_share": share(is_a("Nd"), is_visible),
    "upper_share": share(is_a("Lu"), is_a("L")),
    "letter_share": share(is_a("L", "Mn", "Mc"), is_visible),
}

ODD = st.sampled_from("aA1.#!…\n\r \u3000中ไก्\u0301\u200d\ufe0f\u20e3🎉\U000e0100\x00\x1c\ue000½ǅ")


@given(st.lists(st.text(st.one_of(ODD, st.characters(exclude_categories=["Cs"])), max_size=30)))
def test_they_equal_slow_python(texts: list[str]) -> None:
    units = Units(pa.array(texts, pa.large_string()))
    for name, slow in SLOW.items():
        values = measure(units, name)
        assert values.dtype == np.float64
        assert values.tolist() == list(map(slow, texts)), name


@given(st.lists(st.text(ODD, max_size=20), max_size=8), st.integers(0, 8))
def test_a_batch_may_be_split_anywhere(texts: list[str], at: int) -> None:
    whole = pa.array(texts, pa.large_string())
    for name in SURFACE:
        parts = [measure(Units(part), name) for part in (whole[:at], whole[at:])]
        assert measure(Units(whole), name).tolist() == np.concatenate(parts).tolist(), name


def test_every_code_point() -> None:
    text = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    for name in ("symbol_share", "digit_share", "letter_share", "whitespace_words"):
        assert taken(name, text) == SLOW[name](text)


TEXTS = ["One.", None, "", "二。"]


@pytest.mark.parametrize(
    "texts",
    [
        TEXTS,
        tuple(TEXTS),
        pa.array(TEXTS),
        pa.array(TEXTS, pa.large_string()),
        pa.array(TEXTS, pa.string_view()),
        pa.array(["junk", *TEXTS, "junk"], pa.large_string()).slice(1, 4),
        pa.chunked_array([TEXTS[:1], [], TEXTS[1:]], pa.string()),
        pd.Series(TEXTS),
        pd.Series(TEXTS, dtype=object, index=[3, 1, 1, 0]),
        pd.Series(["One.", float("nan"), "", "二。"], dtype=object),
        pd.Series(TEXTS, dtype="string"),
    ],
)
def test_measures_of_any_texts(texts: Any) -> None:
    table = measures(texts)
    assert table.schema == pa.schema([(name, pa.float64()) for name in NAMES])
    assert table["sentences"].to_pylist() == [1.0, None, 0.0, 1.0]
    for name in NAMES:
        assert table[name].null_count == 1
        expected = [None if text is None else taken(name, text) for text in TEXTS]
        assert table[name].to_pylist() == expected


@pytest.mark.parametrize("texts", [[], pa.array([], pa.string()), pd.Series([], dtype="str")])
def test_measures_of_nothing(texts: Any) -> None:
    assert measures(texts).num_rows == 0


def test_measures_of_nulls_alone() -> None:
    assert measures(pa.nulls(2))["tokens"].to_pylist() == [None, None]
    assert measures([None])["tokens"].to_pylist() == [None]


def test_what_are_no_texts() -> None:
    with pytest.raises(TypeError, match="expected a list of texts, got one str"):
        measures("text")
    with pytest.raises(TypeError, match="expected texts, got int"):
        measures(["a", 1])
    with pytest.raises(TypeError, match="expected an Arrow array of strings, got one of int64"):
        measures(pa.array([1]))
    with pytest.raises(TypeError, match="expected texts, got float"):
        measures(1.0)
    with pytest.raises(TypeError, match="expected texts, got int"):
        measures(pd.Series([1, 2]))
    with pytest.raises(ValueError):
        measures(["\ud800"])


def test_large_input_is_taken_in_parts() -> None:
    texts = ["word " * 100_000] * 40
    assert measures(texts)["whitespace_words"].to_pylist() == [100_000] * 40
