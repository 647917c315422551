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
from cleanpipe.filters.fasttext_models import KNOWN_SHA256
from cleanpipe.filters.language import SHIPPED, Language
from cleanpipe.parameters import LocalPath, build
from cleanpipe.pipeline import Pipeline
from cleanpipe.stage import Evidence
from cleanpipe.units import Units
from tests.filters.table import table
from tests.filters.toy_models import LANGUAGES, trained

ENGLISH = "The committee met on Tuesday to discuss the annual report and elected a chair."
GERMAN = "Der Ausschuss traf sich am Dienstag, um über den Jahresbericht zu beraten."
CHINESE = "委员会星期二开会讨论年度报告，并选举了一位主席。"
RUSSIAN = "Комитет собрался во вторник, чтобы обсудить годовой отчёт."

SHIPPED_SHA256 = KNOWN_SHA256[SHIPPED.name]
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
        ("差差差差差差", "und"),  # the model knows no part of it, and answers as for ""
        ("- SUN1017.xls", "und"),
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


def test_only_a_part_is_looked_at() -> None:
    text = ENGLISH + " " + GERMAN * 40
    first = Language(characters=len(ENGLISH), part="beginning")
    assert taken(first, text) == taken(SCORER, ENGLISH)
    assert taken(Language(characters=None), text)[0] == ["de"]
    assert taken(SCORER, text)[0] == ["de"]
    assert taken(Language(characters=300, part="beginning"), ENGLISH * 4 + GERMAN * 40)[0] == ["en"]
    assert taken(Language(characters=300), ENGLISH * 4 + GERMAN * 40)[0] == ["de"]
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
        ({"keep": ("eng",)}, "keep", 'the code of "eng" is "en" here: write "en"'),
        ({"keep": ("cmn",)}, "keep", 'write "zh"'),
        ({"keep": ("nb",)}, "keep", 'write "no"'),
        ({"keep": ("als",)}, "keep", 'label of the language "gsw": write "gsw"'),
        ({"keep": {"bh": 0.5}}, "keep", 'label of the language "bho": write "bho"'),
        ({"keep": ("eng_latn",)}, "keep", 'no language "eng_latn"'),
        ({"top": 0}, "top", "1 to 10, got 0"),
        ({"top": 11}, "top", "1 to 10, got 11"),
        ({"groups": {"zh": ("zh", "yue"), "x": ("yue",)}}, "groups.x", 'the group "zh" too'),
        ({"groups": {"x": ("yue", "yue")}}, "groups.x", '"yue" is there twice'),
        ({"groups": {"x": ()}}, "groups.x", "got none"),
        ({"groups": {"x": ("cmn", "yue")}}, "groups.x", 'write "zh"'),
        ({"groups": {"x": ("als",)}}, "groups.x", 'write "gsw"'),
        ({"groups": {"zh": ("yue", "wuu")}}, "groups.zh", "not in its group: add it"),
        ({"groups": {"zh": ("zh", "cantonese")}}, "groups.zh", 'no language "cantonese"'),
        ({"groups": {"und": ("en",)}}, "groups.und", 'a name that is not "und"'),
        ({"groups": {"x": ("yue",)}, "keep": ("yue",)}, "keep", 'in the group "x": write "x"'),
        ({"groups": {"x": ("yue",)}, "keep": ("y",)}, "keep", 'no language "y"'),
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
    assert "_predict" in vars(stage) and "_predict" not in vars(again)
    assert taken(again, GERMAN) == taken(stage, GERMAN)


def all_taken(stage: Language, *texts: str) -> dict[str, list[Any]]:
    measures = stage.measure(Units(pa.array(texts, pa.large_string())))
    assert tuple(measures) and set(measures) == set(stage.takes())
    return {
        name: [None if value != value else value for value in measures[name].tolist()]
        for name in stage.takes()
    }


@pytest.fixture(scope="module")
def flores(tmp_path_factory: pytest.TempPathFactory) -> LocalPath:
    return LocalPath(str(trained(tmp_path_factory.mktemp("flores") / "lid.bin", LANGUAGES)))


SEVEN = (
    "we were there",
    "wir sind da",
    "我们去公园",
    "佢哋唔知",
    "今天天氣",
    "الطقس جميل",
    "zv qx jk",
)


def test_codes_and_scripts_of_labels_with_scripts(flores: LocalPath) -> None:
    found = all_taken(Language(model=flores), *SEVEN, "", "42")
    assert list(found) == ["language", "score", "label", "script"]
    languages = ["en", "de", "zh", "yue", "zh", "ar", "und", "und", "und"]
    assert found["language"] == languages
    labels = ["eng_Latn", "deu_Latn", "cmn_Hani", "yue_Hani", "zho_Hant", "arb_Arab", "und_Zyyy"]
    assert found["label"] == [*labels, None, None]
    scripts = ["Latn", "Latn", "Hani", "Hani", "Hant", "Arab", "Zyyy"]
    assert found["script"] == [*scripts, None, None]
    # The model's own "und" has a score; where there is no letter the model was not asked.
    assert [score is None for score in found["score"]] == [False] * 7 + [True] * 2


def test_labels_as_they_are(flores: LocalPath) -> None:
    stage = Language(model=flores, label_scheme="as_is", keep=("eng_Latn",))
    assert list(stage.check()) == []
    found = all_taken(stage, *SEVEN)
    assert "script" not in found
    assert found["language"] == found["label"]
    assert codes(stage, *SEVEN) == [0, 1, 1, 1, 1, 1, 1]


def test_faults_name_the_code_of_a_label(flores: LocalPath) -> None:
    stage = Language(model=flores, keep=("en", "cmn_Hani", "arb", "fr"))
    one, two, three = (message for _, message in stage.check())
    assert 'label of the language "zh": write "zh"' in one
    assert 'the code of "arb" is "ar" here: write "ar"' in two
    assert 'no language "fr"' in three


def test_the_next_languages(flores: LocalPath) -> None:
    found = all_taken(Language(model=flores, top=3), SEVEN[0], "")
    assert list(found) == [
        *("language", "score", "label", "script"),
        *("language_2", "score_2", "language_3", "score_3"),
    ]
    one = [found["language"][0], found["language_2"][0], found["language_3"][0]]
    assert one[0] == "en" and len(set(one)) >= 2
    assert found["score"][0] >= found["score_2"][0] >= found["score_3"][0] > 0
    assert [found[name][1] for name in found] == ["und", *[None] * 7]


def test_there_are_fewer_languages_than_asked_for(tmp_path: Path) -> None:
    two = {name: LANGUAGES[name] for name in ("eng_Latn", "deu_Latn")}
    path = LocalPath(str(trained(tmp_path / "two.bin", two)))
    found = all_taken(Language(model=path, top=3), SEVEN[0])
    assert (found["language"], found["language_2"]) == (["en"], ["de"])
    assert (found["language_3"], found["score_3"]) == ([None], [None])
    assert found["score"][0] + found["score_2"][0] == pytest.approx(1, abs=1e-4)


def shares_of(flores: LocalPath, text: str) -> dict[str, float]:
    """Every label's probability."""
    found = all_taken(Language(model=flores, label_scheme="as_is", top=7), text)
    ends = ["", *(f"_{place}" for place in range(2, 8))]
    return {found[f"language{end}"][0]: found[f"score{end}"][0] for end in ends}


def test_a_language_has_the_sum_of_its_scripts(flores: LocalPath) -> None:
    text = "今 天 天 气 很 好 今 天 天 氣 很 好"
    shares = shares_of(flores, text)
    assert min(shares["cmn_Hani"], shares["zho_Hant"]) > 0.01
    found = all_taken(Language(model=flores, top=2), text)
    assert found["language"] == ["zh"] and found["language_2"][0] not in ("zh", None)
    chinese = shares["cmn_Hani"] + shares["zho_Hant"]
    assert found["score"] == [pytest.approx(min(chinese, 1), abs=1e-6)]
    assert found["label"] == [max(shares, key=lambda label: shares[label])]


def test_a_group_has_the_sum_of_its_members(flores: LocalPath) -> None:
    text = "今 天 天 气 係 邊 度 書"
    shares = shares_of(flores, text)
    chinese = sum(shares[label] for label in ("cmn_Hani", "zho_Hant", "yue_Hani"))
    stage = Language(model=flores, groups={"chinese": ("zh", "yue")}, top=2, keep=("chinese",))
    assert list(stage.check()) == []
    found = all_taken(stage, text)
    assert found["language"] == ["chinese"]
    assert found["score"] == [pytest.approx(min(chinese, 1), abs=1e-6)]
    assert found["label"] == [max(shares, key=lambda label: shares[label])]
    assert found["language_2"][0] not in ("zh", "yue", "chinese")
    assert stage.label_values()["language"] == {"chinese", "en", "de", "ar", "und"}


def test_groups_of_the_shipped_model() -> None:
    stage = Language(groups={"zh": ("zh", "yue", "wuu")}, keep={"zh": 0.9})
    alone, grouped = all_taken(SCORER, CHINESE), all_taken(stage, CHINESE)
    assert grouped["language"] == ["zh"] and grouped["label"] == ["zh"]
    assert alone["score"][0] <= grouped["score"][0] <= 1.0
    assert codes(stage, CHINESE, ENGLISH) == [0, 1]


@pytest.mark.parametrize("text", ["Menu", "la casa is het huis og und det"])
def test_a_low_score_makes_no_und(text: str) -> None:
    [language], [score] = taken(SCORER, text)
    assert score < 0.5
    assert language != "und"


MIXED = "\n".join([ENGLISH, CHINESE, "42", GERMAN, ENGLISH, "Kontakt", CHINESE])


@pytest.mark.parametrize(
    ("keep", "min_tokens", "left"),
    [
        (["en"], 0, [ENGLISH, ENGLISH]),
        (["zh"], 0, [CHINESE, CHINESE]),
        (["en", "zh", "und"], 0, [ENGLISH, CHINESE, "42", ENGLISH, CHINESE]),
        # A word or two are too short to tell a language by.
        (["en", "zh"], 3, [ENGLISH, CHINESE, "42", ENGLISH, "Kontakt", CHINESE]),
    ],
)
@pytest.mark.parametrize("unit", ["line", "paragraph"])
def test_mixed_pages_by_line_or_paragraph(
    unit: str, keep: list[str], min_tokens: int, left: list[str]
) -> None:
    page, apart = MIXED, "\n"
    if unit == "paragraph":
        page, apart = MIXED.replace("\n", "\n\n"), "\n\n"
    failing = [{"language": {"keep": keep, "min_tokens": min_tokens}}]
    stages: list[Any] = [{"remove": {"unit": unit, "failing": failing}}]
    kept = Pipeline.from_dict({"stages": stages}).run([page]).kept
    [text] = kept.column("text").to_pylist()
    assert text.split(apart) == left


def test_the_next_languages_are_labels_of_later_stages() -> None:
    stages: list[Any] = [
        {"language": {"top": 2}},
        {"length": {"tokens": [1000, None]}, "when": {"language_2": "de"}},
    ]
    result = Pipeline.from_dict({"stages": stages}).run([ENGLISH, CHINESE])
    assert "language.language_2" in result.measures.column_names
    stages[0] = {"language": {}}
    with pytest.raises(ConfigError, match="language_2"):
        Pipeline.from_dict({"stages": stages}).run([ENGLISH])


@pytest.mark.parametrize("parameters", [{"keep": ["en"]}, {}])
def test_a_file_that_is_no_model_is_a_fault_of_the_parameter(
    parameters: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "m.ftz"
    path.write_text("no model")
    _, found = build(Language, frozen({"model": str(path), **parameters}))
    ((place, message),) = found
    assert place == ("model",) and "is no fastText model" in message
