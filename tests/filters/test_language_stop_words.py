"""``language_stop_words``: two different stop words of the language, in any script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cleanpipe import Pipeline
from cleanpipe.filters import language_stop_words
from cleanpipe.filters.language_stop_words import LanguageStopWords
from cleanpipe.units import Units

from .table import faults, made, table

LISTS: dict[str, list[str]] = json.loads(
    (Path(language_stop_words.__file__).parent / "data" / "stop_words.json").read_text("utf-8")
)
EN, ZH, JA, AR = ({"language": code} for code in ("en", "zh", "ja", "ar"))
FAILS = "different"

test_language_stop_words = table(
    LanguageStopWords,
    [
        ("The end of it", EN, None),
        ("the THE the", EN, FAILS),
        ("The end", {**EN, "different": [1, None]}, None),
        ("", EN, FAILS),
        ("word", EN, FAILS),
        ("them bed too", EN, FAILS),
        ("Buy\r\nnow\r\n", EN, FAILS),
        ("The\r\nend of\r\n", EN, None),
        ("🎉🎉", EN, FAILS),
        ("a" * 2**20, EN, FAILS),
        ("今天的天气不好", ZH, None),
        ("今天天气不好", ZH, FAILS),
        ("出售手机电脑", ZH, FAILS),
        ("The end of it", ZH, FAILS),
        ("今日は天気がいい", JA, None),
        ("売切御免", JA, FAILS),
        ("هذا البيت في المدينة", AR, None),
        ("بيت كبير", AR, FAILS),
        ("Der Hund und die Katze", {"language": "de"}, None),
        ("Hund Katze Maus", {"language": "de"}, FAILS),
        ("Le chat et la souris", {"language": "fr"}, None),
        ("И дом на горе", {"language": "ru"}, None),
        ("राम का घर और गाँव", {"language": "hi"}, None),
        ("The end", {**EN, "min_tokens": 3}, FAILS),  # a table asks for the measures alone
    ],
)


def test_by_label() -> None:
    languages = pa.array(["zh", "en", None, "th", "zh"], pa.large_string())
    texts = ["今天的天气不好", "今天的天气不好", "of the", "of the", "手机"]
    units = Units(pa.array(texts, pa.large_string()), {"language": languages})
    stage = made(LanguageStopWords, {})
    assert stage.needs() == ("language",)
    measures = stage.measure(units)
    assert np.array_equal(measures["different"], [2, 0, np.nan, np.nan, 0], equal_nan=True)
    assert stage.judge(measures).tolist() == [0, 1, 0, 0, 1]


@pytest.mark.parametrize("language", [*LISTS, "en"])
def test_its_words_are_found(language: str) -> None:
    words = LISTS.get(language, ["the", "be", "to", "of", "and", "that", "have", "with"])
    assert len(words) == len(set(words)) == (8 if language == "en" else 24)
    text = " ".join(words)
    units = Units(pa.array([text, text.upper(), words[0]], pa.large_string()))
    found = made(LanguageStopWords, {"language": language}).measure(units)["different"].tolist()
    assert found == [len(words), len(words), 1]


def test_in_a_run() -> None:
    text = "We have to be with the people of that town and stay there for good."
    stages: list[Any] = [{"language": {}}, {"language_stop_words": {}}]
    result = Pipeline.from_dict({"stages": stages}).run([text, "手机电脑相机，手机电脑相机。" * 3])
    assert result.kept["text"].to_pylist() == [text]


def test_faults() -> None:
    (fault,) = faults(LanguageStopWords, {"language": "zx"})
    assert fault.startswith('language: no stop words for "zx"; known: ar, cs')
