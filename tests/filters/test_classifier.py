"""``classifier``: any supervised fastText model, its labels bounded by name."""

from __future__ import annotations

import math
import pickle
import re
from pathlib import Path
from typing import Any

import fasttext
import numpy as np
import pyarrow as pa
import pytest

from cleanpipe.bounds import Bounds
from cleanpipe.errors import ConfigError
from cleanpipe.filters.classifier import Classifier
from cleanpipe.filters.language import SHIPPED
from cleanpipe.parameters import LocalPath
from cleanpipe.pipeline import Pipeline
from cleanpipe.units import Units
from tests.filters.table import faults, made, table
from tests.filters.toy_models import QUALITY, trained

ENGLISH = "The committee met on Tuesday to discuss the annual report and elected a chair."
GERMAN = "Der Ausschuss traf sich am Dienstag, um über den Jahresbericht zu beraten."
CHINESE = "今天天气很好，我们去公园散步，后来下雨了。"
WEIGHTS = {"High": 2.0, "Mid": 1.0, "Low": 0.0}
PROVED = "the theorem follows as the sum converges"
ADVERT = "click here to buy cheap pills"
LAKE = "we went home from the lake"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LocalPath:
    return LocalPath(str(trained(tmp_path_factory.mktemp("quality") / "quality.bin", QUALITY)))


def measured(stage: Classifier, *texts: str) -> dict[str, list[Any]]:
    measures = stage.measure(Units(pa.array(texts, pa.large_string())))
    assert tuple(measures) == stage.takes()
    return {name: values.tolist() for name, values in measures.items()}


def bare(model: LocalPath, text: str) -> dict[str, float]:
    """All probabilities, by the model alone."""
    found = fasttext.FastText._FastText(model_path=str(model)).f.predict(
        text + "\n", -1, 0.0, "strict"
    )
    return {label.removeprefix("__label__"): share for share, label in found}


test_table = table(
    Classifier,  # of languages, as that model is at hand without training
    [
        (ENGLISH, {"model": str(SHIPPED)}, None),
        (ENGLISH, {"model": str(SHIPPED), "bounds": {"en": [0.5, None]}}, None),
        (GERMAN, {"model": str(SHIPPED), "bounds": {"en": [0.5, None]}}, "en"),
        (GERMAN, {"model": str(SHIPPED), "bounds": {"en": [None, 1], "de": {"below": 0.5}}}, "de"),
        (GERMAN, {"model": str(SHIPPED), "bounds": {"en": {"min": 0.1}, "fr": [0.1, 1]}}, "en"),
        # Line breaks, </s>: all of the text is looked at.
        (f"\n\n</s>\n{GERMAN}", {"model": str(SHIPPED), "bounds": {"de": [0.5, None]}}, None),
        (ENGLISH + GERMAN * 9, {"model": str(SHIPPED), "bounds": {"de": [0.5, None]}}, None),
        (
            ENGLISH + GERMAN * 9,
            {"model": str(SHIPPED), "bounds": {"de": [0.5, None]}, "characters": len(ENGLISH)},
            "de",
        ),
        # Without a letter there is nothing to look at, so nothing to judge.
        ("", {"model": str(SHIPPED), "bounds": {"en": [0.5, None]}}, None),
        (" \n\0</s> 12 !", {"model": str(SHIPPED), "bounds": {"de": [0.5, None]}}, None),
    ],
)


def test_measures_are_the_probabilities_of_the_model(model: LocalPath) -> None:
    stage = Classifier(model, bounds={"High": Bounds(0.5)}, scores=("Low",), weights=WEIGHTS)
    assert stage.takes() == ("label", "High", "Low", "score")
    found = measured(stage, PROVED, ADVERT, LAKE)
    assert found["label"] == ["High", "Low", "Mid"]
    for place, text in enumerate((PROVED, ADVERT, LAKE)):
        shares = bare(model, text)
        assert found["High"][place] == pytest.approx(min(shares["High"], 1), abs=1e-6)
        assert found["Low"][place] == pytest.approx(min(shares["Low"], 1), abs=1e-6)
        expected = sum(WEIGHTS[label] * share for label, share in shares.items())
        assert found["score"][place] == pytest.approx(expected, abs=1e-4)
    assert found["score"][0] > 1.5 > found["score"][2] > 0.5 > found["score"][1]


def test_the_expected_weight_is_bounded(model: LocalPath) -> None:
    stage = Classifier(model, weights=WEIGHTS, score=Bounds(0.5, 1.5))
    [rule] = stage.rules()
    assert (rule.name, rule.measure, rule.broken_by(1.9)) == ("score", "score", "<= 1.5")
    units = Units(pa.array([PROVED, ADVERT, LAKE, "42"], pa.large_string()))
    assert stage.judge(stage.measure(units)).tolist() == [1, 1, 0, 0]


def test_a_label_that_the_model_does_not_give_is_0() -> None:
    """Hierarchical softmax leaves out what is all but impossible."""
    model = LocalPath(str(SHIPPED))
    spaced = " ".join(CHINESE)
    given = bare(model, spaced)
    assert len(given) < 20 and "ka" not in given
    found = measured(Classifier(model, scores=("zh", "ka")), spaced)
    assert (found["zh"], found["ka"]) == ([pytest.approx(given["zh"], abs=1e-6)], [0.0])


def test_without_a_letter_nothing_is_taken(model: LocalPath) -> None:
    stage = Classifier(model, scores=("High",), weights=WEIGHTS)
    for text in ("", " \n", "</s>", "\0", "2024-01-01", "😀!"):
        measures = stage.measure(Units(pa.array([text], pa.large_string())))
        assert measures["label"].tolist() == [None]
        assert np.isnan(measures["High"]).all() and np.isnan(measures["score"]).all()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (PROVED, PROVED.replace(" ", "\n")),
        (PROVED, f"\n\n{PROVED}\n"),
        (PROVED, PROVED.replace(" ", " </s> ")),
        (PROVED, PROVED.replace(" ", "\0")),
    ],
)
def test_traps_do_not_change_a_probability(one: str, other: str, model: LocalPath) -> None:
    [first, second] = measured(Classifier(model, scores=("High",)), one, other)["High"]
    assert first == pytest.approx(second, abs=1e-6)


def test_case_is_left_alone_unless_asked(model: LocalPath) -> None:
    lower, upper = LAKE, LAKE.upper()
    plain = Classifier(model, scores=("Mid",))
    lowered = Classifier(model, scores=("Mid",), lower_case=True)
    [small, large] = measured(plain, lower, upper)["Mid"]
    assert abs(small - large) > 0.1
    assert measured(lowered, lower, upper, LAKE.title())["Mid"] == [small] * 3


def test_the_beginning_alone(model: LocalPath) -> None:
    text = f"{PROVED} {ADVERT * 20}"
    whole, part = Classifier(model), Classifier(model, characters=len(PROVED))
    assert measured(whole, text)["label"] == ["Low"]
    assert measured(part, text)["label"] == ["High"]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"bounds": {"Hihg": [0.5, None]}}, 'bounds: the model has no label "Hihg"; did you mean'),
        ({"scores": ["Mid", "Lo"]}, "scores: .*known: High, Low, Mid"),
        ({"weights": {"High": 1, "Mid": 0.5, "low": 0}}, 'no label "low"'),
        ({"weights": {"High": 1, "Mid": 0.5}}, "weights: .*for every label: Low"),
        ({"score": [1, None]}, "score: .*without `weights`"),
        ({"characters": 0}, "characters: expected at least 1"),
        ({"bounds": {"High": [0.9, 0.1]}}, "bounds.High: expected low <= high"),
        ({"bounds": {"High": "much"}}, "bounds.High: expected"),
        ({"bounds": {"High": [50, None]}}, "bounds: expected a probability from 0 to 1 for High"),
        ({"weights": {"High": math.nan, "Mid": 0, "Low": 0}}, "weights: .*finite number for High"),
        ({"weights": {"High": "x", "Mid": 0, "Low": 0}}, "weights.High: expected a number"),
    ],
)
def test_faults(parameters: dict[str, Any], expected: str, model: LocalPath) -> None:
    found = faults(Classifier, {"model": str(model), **parameters})
    assert any(re.search(expected, fault) for fault in found), found


def test_a_label_that_cannot_be_a_measure(tmp_path: Path) -> None:
    examples = {"score": ["good text"], "v1.5": ["bad words"], "other": ["something else"]}
    path = str(trained(tmp_path / "odd.bin", examples))
    found = faults(Classifier, {"model": path, "bounds": {"score": [0, 1]}, "scores": ["v1.5"]})
    assert [fault.partition(" ")[0] for fault in found] == ["bounds:", "scores:"]
    weights = {"score": 1, "v1.5": 0, "other": 0}
    assert faults(Classifier, {"model": path, "weights": weights, "score": [0.5, None]}) == []


def test_models_that_are_none(tmp_path: Path, model: LocalPath) -> None:
    vectors = tmp_path / "vectors.bin"
    (tmp_path / "text.txt").write_text("some words of a text\n" * 50)
    fasttext.train_unsupervised(
        str(tmp_path / "text.txt"), dim=4, minCount=1, bucket=10, thread=1, verbose=0
    ).save_model(str(vectors))
    broken = tmp_path / "broken.bin"
    broken.write_bytes(Path(model).read_bytes()[:-1])
    for path, words in ((vectors, "no labels: a supervised one"), (broken, "breaks off")):
        [fault] = faults(Classifier, {"model": str(path)})
        assert words in fault
    assert faults(Classifier, {}) == [': expected the parameter "model", which is missing']
    [resource] = made(Classifier, {"model": str(model), "sha256": "ab"}).resources()
    assert (resource.path, resource.sha256) == (str(model), "ab")
    stages = [{"classifier": {"model": str(model), "sha256": "ab"}}]
    with pytest.raises(ConfigError, match="its sha256 is .*, expected ab"):
        Pipeline.from_dict({"stages": stages}).run([PROVED])


def test_parameters_travel_and_the_model_stays(model: LocalPath) -> None:
    stage = Classifier(model, scores=("High",))
    found = measured(stage, PROVED)
    again = pickle.loads(pickle.dumps(stage))
    assert again == stage and "_predict" not in vars(again)
    assert measured(again, PROVED) == found


def test_in_a_pipeline(model: LocalPath) -> None:
    stages: list[Any] = [
        {"classifier": {"model": str(model), "weights": WEIGHTS}, "name": "quality"},
        {"rule": {"measure": "quality.score", "min": 0.5}},
        {"length": {"tokens": [100, None]}, "when": {"quality.label": "Mid"}},
    ]
    result = Pipeline.from_dict({"stages": stages}).run([PROVED, ADVERT, LAKE, "42"])
    assert result.kept.column("text").to_pylist() == [PROVED, "42"]
    assert result.dropped.column("rule").to_pylist() == ["quality.score", "tokens"]
    assert {"quality.label", "quality.score"} <= set(result.measures.column_names)


def test_lines_of_a_page(model: LocalPath) -> None:
    failing = [{"classifier": {"model": str(model), "bounds": {"Low": [None, 0.5]}}}]
    stages: list[Any] = [{"remove": {"unit": "line", "failing": failing}}]
    page = "\n".join([PROVED, ADVERT, "42", LAKE])
    kept = Pipeline.from_dict({"stages": stages}).run([page]).kept
    assert kept.column("text").to_pylist() == ["\n".join([PROVED, "42", LAKE])]
