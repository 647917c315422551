"""All that ``measures`` accepts; tests/native/test_measures.py has the values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleanpipe import _native
from cleanpipe.surface import SURFACE, measures, take

NAMES = tuple(SURFACE)


def taken(name: str, text: str) -> float:
    return float(take(pa.array(["x.", text, "Y 1"], pa.large_string()), [name])[name][1])


def test_the_names_are_those_of_the_kernels_and_described() -> None:
    assert NAMES == _native.MEASURES
    assert all("." not in name for name in SURFACE)
    assert all(found.description and found.unit for found in SURFACE.values())


def test_unknown_names() -> None:
    with pytest.raises(KeyError, match="tokenz"):
        take(pa.array(["a"]), ["tokens", "tokenz"])


SOME = st.sampled_from("aA1.#!…\n\r \u3000中ไก्\u0301\u200d\ufe0f\u20e3🎉<&@{")


@given(st.text(SOME, max_size=40), st.sets(st.sampled_from(NAMES)))
def test_each_is_the_same_whatever_else_is_taken(text: str, names: set[str]) -> None:
    array = pa.array([text])
    every = take(array, NAMES)
    for name, values in take(array, sorted(names)).items():
        assert values.tolist() == every[name].tolist(), name


@given(st.lists(st.text(SOME, max_size=20), max_size=8), st.integers(0, 8))
def test_a_batch_may_be_split_anywhere(texts: list[str], at: int) -> None:
    array = pa.array(texts, pa.large_string())
    whole, first, last = (take(part, NAMES) for part in (array, array[:at], array[at:]))
    for name in NAMES:
        assert whole[name].dtype == np.float64
        assert whole[name].tolist() == [*first[name], *last[name]], name


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
