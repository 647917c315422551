"""``near_duplicates`` and ``Result.similar``: the notebook's way to duplicates."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import cleanpipe as cp

WORDS = [f"word{number}" for number in range(60)]


def text(*changed: int) -> str:
    """60 words, of which these are others; 5-grams in common with another: 56 - 5 a word."""
    return " ".join(f"other{at}" if at in changed else word for at, word in enumerate(WORDS))


TEXTS = [
    text(),
    "Something else. " * 6 + "that has nothing to do with it at all",
    text(59),  # 55 of 57 with 0
    text(0, 59),  # 54 of 58 with 0
    text().upper() + "!",
    None,
    "short one",
    "short one",
    "Short one",
    "",
    text(10, 20, 30, 40, 50),  # 31 of 81 with 0
]
FOUND = [
    (0, None, None),
    (1, None, None),
    (2, 0, 55 / 57),
    (3, 0, 54 / 58),
    (4, 0, 1.0),
    (5, None, None),
    (6, None, None),
    (7, 6, 1.0),
    (8, None, None),
    (9, None, None),
    (10, None, None),
]


def found(table: pa.Table) -> list[tuple[Any, ...]]:
    assert table.schema.names == ["id", "survivor", "similarity"]
    assert table.schema.types == [pa.int64(), pa.int64(), pa.float64()]
    return [tuple(row.values()) for row in table.to_pylist()]


@pytest.mark.parametrize(
    "texts",
    [TEXTS, tuple(TEXTS), pa.array(TEXTS), pa.chunked_array([TEXTS[:3], TEXTS[3:]])]
    + [pd.Series(TEXTS, dtype=object)],
    ids=["list", "tuple", "array", "chunked", "series"],
)
def test_a_row_a_text(texts: Any) -> None:
    assert found(cp.near_duplicates(texts)) == FOUND


@pytest.mark.parametrize("texts", [[], [None], ["alone"], [text(), text(5, 15, 25, 35)]])
def test_without_duplicates(texts: list[str | None]) -> None:
    assert found(cp.near_duplicates(texts)) == [(at, None, None) for at in range(len(texts))]


def test_threshold() -> None:
    texts = [text(), text(10, 20, 30)]  # 41 of 71
    assert found(cp.near_duplicates(texts, 0.5))[1] == (1, 0, 41 / 71)
    assert found(cp.near_duplicates(texts, threshold=0.6))[1] == (1, None, None)


def test_what_is_refused() -> None:
    with pytest.raises(cp.ConfigError, match="more than 0 and at most 1, got 0"):
        cp.near_duplicates(["a"], threshold=0)
    with pytest.raises(TypeError, match="got one str"):
        cp.near_duplicates("a text")


# Similar


def run(*stages: Any, texts: Any = TEXTS) -> cp.Result:
    return cp.Pipeline.from_dict({"stages": list(stages)}).run(texts)


def test_similar() -> None:
    result = run({"minhash": {"seed": 5}})
    table = result.similar(text(0))
    assert table.schema.names == ["id", "similarity", "text"]
    assert table["id"].to_pylist() == [0]
    assert table["text"].to_pylist() == [TEXTS[0]]
    one, two = cp.minhash([text(0), TEXTS[0]], seed=5)
    assert table["similarity"].to_pylist() == [np.mean(one == two)]
    wider = result.similar(text(), threshold=0.2)
    assert wider["id"].to_pylist() == [0, 10]
    assert wider["similarity"][0].as_py() == 1.0 > wider["similarity"][1].as_py() >= 0.2
    assert result.similar(text(), 1, threshold=0.2)["id"].to_pylist() == [0]
    for nothing in ("short one", "", "Quite another text, of which nothing is known to anyone"):
        empty = result.similar(nothing)
        assert len(empty) == 0 and empty.schema == table.schema


def test_similar_with_n_by_language_and_ids_of_the_user() -> None:
    chinese = "今天天气很好我们去公园散步明天会下雨所以留在家里看书"
    data = pa.table({"id": ["x", "y"], "text": [text(), chinese]})
    stages = ["language", {"minhash": {"ngram": {"default": 5, "zh": 9}}}]
    result = run(*stages, texts=data)
    assert result.similar(chinese)["id"].to_pylist() == ["y"]
    assert result.similar(text(3))["id"].to_pylist() == ["x"]


def test_which_stage() -> None:
    one, two = {"minhash": {}, "name": "one"}, {"minhash": {"num_perm": 64}, "name": "two"}
    result = run("exact", one, two)
    with pytest.raises(cp.ConfigError, match="say which stage's signatures: one, two"):
        result.similar("a")
    with pytest.raises(cp.ConfigError, match='"exact" stored no signatures: one, two'):
        result.similar("a", stage="exact")
    assert result.similar(text(), stage="two")["id"].to_pylist() == [0]
    with pytest.raises(cp.ConfigError, match="no stage of this run stored signatures"):
        run("exact").similar("a")


def test_threshold_of_similar() -> None:
    with pytest.raises(cp.ConfigError, match="got 1.5"):
        run("minhash").similar("a", threshold=1.5)


def test_without_datasketch(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run("minhash")
    monkeypatch.setitem(sys.modules, "datasketch", None)
    with pytest.raises(cp.ConfigError, match="pip install 'datasketch>=2'"):
        result.similar("a")
