"""``language``: the traps of fastText, and what is decided from its labels."""

from __future__ import annotations

import builtins
import hashlib
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cleanpipe.bounds import Bounds
from cleanpipe.document import frozen
from cleanpipe.errors import ConfigError
from cleanpipe.filters.language import SHIPPED, SHIPPED_SHA256, Language
from cleanpipe.parameters import LocalPath, build
from cleanpipe.stage import Evidence
from cleanpipe.units import Units
from tests.filters.table import table

ENGLISH = "The committee met on Tuesday to discuss the annual report and elected a chair."
GERMAN = "Der Ausschuss traf sich am Dienstag, um über den Jahresbericht zu beraten."
CHINESE = "委员会星期二开会讨论年度报告，并选举了一位主席。"
RUSSIAN = "Комитет собрался во вторник, чтобы обсудить годовой отчёт."

SCORER = Language()


def taken(stage: Language, *texts: str) -> tuple[list[str], list[float]]:
    measures = stage.measure(Units(pa.array(texts, pa.large_string())))
    labels, scores = measures["language"], measures["score"]
    assert isinstance(labels, pa.LargeStringArray) and isinstance(scores, np.ndarray)
    return labels.to_pylist(), scores.tolist()


def codes(stage: Language, *texts: str) -> list[int]:
    units = Units(pa.array(texts, pa.large_string()))
    return list(map(int, stage.judge(stage.measure(units))))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (ENGLISH, "en"),
        (GERMAN, "de"),
        (CHINESE, "zh"),
        (RUSSIAN, "ru"),
        (ENGLISH.upper(), "en"),
        (GERMAN.upper(), "de"),
        (RUSSIAN.upper(), "ru"),
        ("\n\n" + GERMAN, "de"),  # a line break ends the text for fastText
        ("</s> " + GERMAN, "de"),  # so does its end-of-sentence token
        ("\0 " + GERMAN, "de"),
        ("\r\n\u2028" + GERMAN, "de"),
        ("", "und"),
        (" \n ", "und"),
        ("12345", "und"),
        ("3.14 % + 1,000 = ?!", "und"),
        ("😀🎉", "und"),
        ("\0\0", "und"),
        ("</s>", "und"),
        ("१२३ ٤٥٦", "und"),
    ],
)
def test_language(text: str, language: str) -> None:
    labels, scores = taken(SCORER, text)
    assert labels == [language]
    assert np.isnan(scores[0]) if language == "und" else 0.0 < scores[0] <= 1.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (GERMAN, GERMAN.replace(" ", "\n")),
        (GERMAN, GERMAN.replace(" ", "\0")),
        (GERMAN, GERMAN.replace(" ", " </s> ")),
        (GERMAN.lower(), GERMAN.upper()),
        (RUSSIAN.lower(), RUSSIAN.upper()),
        (GERMAN.lower(), GERMAN.lower()[:-31] + GERMAN.upper()[-31:]),  # fewer capitals: kept
    ],
)
def test_traps_do_not_change_the_label(one: str, other: str) -> None:
    assert taken(SCORER, one)[0] == taken(SCORER, other)[0]


def test_mostly_capitals_are_lower_cased_and_others_are_not() -> None:
    low, high = "abcdefgh", "ABCDEFGH"
    from cleanpipe.filters.language import _prepared

    assert _prepared(high, None) == low
    assert _prepared(high[:4] + low[4:], None) == high[:4] + low[4:]  # exactly half
    assert _prepared(high[:5] + low[5:], None) == low
    assert _prepared("中文 A 😀", None).split() == ["中", "文", "a", "😀"]


def test_only_the_beginning_is_looked_at() -> None:
    text = ENGLISH + " " + GERMAN * 20
    assert taken(Language(characters=len(ENGLISH)), text) == taken(SCORER, ENGLISH)
    assert taken(Language(characters=None), text)[0] == ["de"]
    assert taken(Language(characters=3), "123 " + ENGLISH)[0] == ["und"]


@pytest.mark.parametrize(
    ("keep", "min_score", "expected"),
    [
        ((), 0.0, [0, 0, 0, 0]),
        (("en",), 0.0, [0, 1, 1, 1]),
        (("en", "zh"), 0.0, [0, 1, 0, 1]),
        (("en", "zh"), 1.0, [2, 1, 2, 1]),
        (("und",), 0.9, [1, 1, 1, 0]),
        ({"en": 0.1, "de": 1.0}, 0.0, [0, 3, 1, 1]),
        ({"und": 0.5}, 0.0, [1, 1, 1, 0]),
    ],
)
def test_verdicts(
    keep: tuple[str, ...] | Mapping[str, float], min_score: float, expected: list[int]
) -> None:
    stage = Language(keep=keep, min_score=min_score)
    assert codes(stage, ENGLISH, GERMAN, "委员会 committee 委员会星期二开会讨论", "...") == expected


test_table = table(
    Language,
    [
        (ENGLISH, {}, None),
        (ENGLISH, {"keep": ["en"]}, None),
        (ENGLISH, {"keep": ["de", "zh"]}, "keep"),
        (ENGLISH, {"keep": {"en": 0.5}}, None),
        (ENGLISH, {"keep": {"en": 1}}, "score"),
        (ENGLISH, {"keep": ["en"], "min_score": 1.0}, "score"),
        (GERMAN, {"keep": {"en": 1.0, "de": 0.5}}, None),
        (CHINESE, {"keep": ["zh"], "min_score": 0.5}, None),
        ("", {"keep": ["en"]}, "keep"),
        ("2024-01-01", {"keep": ["en"]}, "keep"),
        ("2024-01-01", {"keep": ["en", "und"], "min_score": 0.9}, None),
        (ENGLISH * 15_000, {"keep": ["en"], "characters": None}, None),
        ("مرحبا بالعالم، هذا نص باللغة العربية", {"keep": ["ar"]}, None),
        (GERMAN.replace(" ", "\r\n"), {"keep": ["de"]}, None),
    ],
)


def test_a_score_at_the_bound_passes_and_one_below_it_fails() -> None:
    [score] = taken(SCORER, ENGLISH)[1]
    assert codes(Language(keep=("en",), min_score=score), ENGLISH) == [0]
    assert codes(Language(keep={"en": score}), ENGLISH) == [0]
    above = float(np.nextafter(score, 2))
    assert codes(Language(keep=("en",), min_score=above), ENGLISH) == [2]
    assert codes(Language(keep={"en": above}), ENGLISH) == [2]


def test_what_was_not_measured_is_not_judged() -> None:
    measures = {
        "language": pa.array([None, "en", "de"], pa.large_string()),
        "score": np.array([np.nan, 0.9, 0.9]),
    }
    assert Language(keep=("en",)).judge(measures).tolist() == [0, 0, 1]


def test_rules_show_the_bound_of_the_label() -> None:
    keep, english, chinese = Language(keep={"en": 0.65, "zh": 0.5}).rules()
    assert (keep.name, keep.measure, keep.broken_by(0)) == ("keep", "language", "in en, zh")
    assert (english.name, english.broken_by(0.1)) == ("score", ">= 0.65")
    assert (chinese.name, chinese.broken_by(0.1)) == ("score", ">= 0.5")
    assert Language(keep=("en",), min_score=0.3).rules()[1].bounds == Bounds(0.3)
    assert SCORER.rules() == ()


def test_evidence_is_the_language_found() -> None:
    stage = Language(keep={"en": 0.0, "de": 1.0})
    batch = Units(pa.array([CHINESE, GERMAN, "1"], pa.large_string()))
    expected = [Evidence("zh"), None, Evidence("und")]
    measures = stage.measure(batch)
    assert list(stage.evidence(batch, stage.judge(measures), measures)) == expected


def test_the_shipped_model_is_the_known_one() -> None:
    assert hashlib.sha256(SHIPPED.read_bytes()).hexdigest() == SHIPPED_SHA256
    [resource] = SCORER.resources()
    assert (resource.path, resource.sha256) == (str(SHIPPED), SHIPPED_SHA256)


def test_another_model_is_checked_only_when_its_digest_is_given() -> None:
    [resource] = Language(model=LocalPath("m.bin")).resources()
    assert (resource.path, resource.sha256) == ("m.bin", None)
    [resource] = Language(model=LocalPath("m.bin"), sha256="abc").resources()
    assert resource.sha256 == "abc"
    assert taken(Language(model=LocalPath(str(SHIPPED))), GERMAN) == taken(SCORER, GERMAN)


@pytest.mark.parametrize(
    ("parameters", "parameter", "words"),
    [
        ({"keep": ("en",), "min_score": 1.5}, "min_score", "from 0 to 1"),
        ({"keep": {"en": 0.5}, "min_score": 0.5}, "min_score", "each language"),
        ({"min_score": 0.5}, "min_score", "without `keep`"),
        ({"characters": 0}, "characters", "at least 1"),
        ({"keep": {"en": -0.1}}, "keep", "for en, got -0.1"),
        ({"keep": ("eng",)}, "keep", 'did you mean "en"'),
        ({"keep": ("english",)}, "keep", 'no language "english"'),
    ],
)
def test_faults(parameters: dict[str, Any], parameter: str, words: str) -> None:
    [(where, message)] = Language(**parameters).check()
    assert where == parameter
    assert words in message


def test_no_fault() -> None:
    assert list(SCORER.check()) == []
    assert list(Language(keep=("en", "zh", "und"), min_score=0.65).check()) == []
    assert list(Language(keep=("xx",), model=LocalPath("nowhere.bin")).check()) == []


def test_a_corrupt_model(tmp_path: Path) -> None:
    broken = tmp_path / "broken.ftz"
    broken.write_bytes(b"no model")
    stage = Language(model=LocalPath(str(broken)), keep=("en",), sha256=SHIPPED_SHA256)
    assert list(stage.check()) == []  # refused for its digest, by the engine, unopened
    with pytest.raises(ConfigError, match="is no fastText model"):
        taken(Language(model=LocalPath(str(broken))), ENGLISH)


def test_a_missing_module_names_both_distributions(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "fasttext":
            raise ImportError("gone")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ConfigError, match="fasttext-community.*fasttext-wheel"):
        taken(Language(), ENGLISH)


def test_parameters_travel_and_the_model_stays() -> None:
    stage = Language(keep=("en",))
    taken(stage, ENGLISH)
    again = pickle.loads(pickle.dumps(stage))
    assert again == stage
    assert "_model" not in vars(again)
    assert taken(again, GERMAN) == taken(stage, GERMAN)


@pytest.mark.parametrize("parameters", [{"keep": ["en"]}, {}])
def test_a_file_that_is_no_model_is_a_fault_of_the_parameter(
    parameters: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "m.ftz"
    path.write_text("no model")
    _, found = build(Language, frozen({"model": str(path), **parameters}))
    ((place, message),) = found
    assert place == ("model",) and "is no fastText model" in message
