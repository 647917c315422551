"""``perplexity``: a model written by hand, whose numbers can be checked on paper."""

from __future__ import annotations

import builtins
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cleanpipe.bounds import Bounds
from cleanpipe.errors import ConfigError
from cleanpipe.filters.perplexity import Perplexity
from cleanpipe.parameters import LocalPath
from cleanpipe.units import Units

# log10 p, word, log10 backoff: p(b | a) is a bigram, all else is its unigram after a backoff.
ARPA = """\\data\\
ngram 1=7
ngram 2=3

\\1-grams:
-2.0\t<unk>
0\t<s>\t-0.25
-1.0\t</s>
-0.5\ta\t-0.125
-0.75\tb\t-0.0625
-1.5\t.\t0
-1.25\t\ufffd\t0

\\2-grams:
-0.25\t<s> a
-0.125\ta b
-0.375\tb </s>

\\end\\
"""


@pytest.fixture
def model(tmp_path: Path) -> LocalPath:
    path = tmp_path / "tiny.arpa"
    path.write_text(ARPA, encoding="utf-8")
    return LocalPath(str(path))


def units(*texts: str) -> Units:
    return Units(pa.array(texts, pa.large_string()))


def taken(stage: Perplexity, text: str) -> tuple[float, float, float]:
    measures = stage.measure(units(text))
    perplexity, oov, tokens = (float(measures[name][0]) for name in stage.takes())
    return perplexity, oov, tokens


@pytest.mark.parametrize(
    ("text", "log10", "tokens", "sentences", "oov"),
    [
        ("a b", -0.25 - 0.125 - 0.375, 2, 1, 0.0),
        ("A B", -0.25 - 0.125 - 0.375, 2, 1, 0.0),
        ("a", -0.25 - 0.125 - 1.0, 1, 1, 0.0),
        ("b", -0.25 - 0.75 - 0.375, 1, 1, 0.0),
        ("zzz", -0.25 - 2.0 - 1.0, 1, 1, 1.0),
        ("a b\na b", 2 * (-0.25 - 0.125 - 0.375), 4, 2, 0.0),
        ("a b. a b", (-0.25 - 0.125 - 0.0625 - 1.5 - 1.0) + (-0.25 - 0.125 - 0.375), 5, 2, 0.0),
        ("a b\n\n \na b", 2 * (-0.25 - 0.125 - 0.375), 4, 2, 0.0),
        # NUL would hide the rest of the sentence; it is a word of its own, U+FFFD
        ("a \0 b", -0.25 - 0.125 - 1.25 - 0.75 - 0.375, 3, 1, 0.0),
        # KenLM would take these for its special tokens; they are split at their brackets
        ("<s>", -0.25 - 2.0 - 2.0 - 2.0 - 1.0, 3, 1, 1.0),
        ("</s>", -0.25 - 4 * 2.0 - 1.0, 4, 1, 1.0),
        ("＜unk＞", -0.25 - 3 * 2.0 - 1.0, 3, 1, 1.0),
    ],
)
def test_measures(
    model: LocalPath, text: str, log10: float, tokens: int, sentences: int, oov: float
) -> None:
    stage = Perplexity(model=model, profile="words", min_tokens=1)
    expected = 10 ** (-log10 / (tokens + sentences))
    assert taken(stage, text) == pytest.approx((expected, oov, tokens), rel=1e-6)


def test_characters(model: LocalPath) -> None:
    stage = Perplexity(model=model, profile="characters", min_tokens=1)
    assert taken(stage, "A中")[1:] == (1.0, 2.0)  # case is kept, Han is split off


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u2028"])
def test_nothing_to_judge(model: LocalPath, text: str) -> None:
    perplexity, oov, tokens = taken(Perplexity(model=model, profile="words", min_tokens=1), text)
    assert np.isnan(perplexity) and np.isnan(oov) and tokens == 0


def test_short_texts_are_measured_but_not_judged(model: LocalPath) -> None:
    stage = Perplexity(model=model, profile="words", min_tokens=4, bounds=Bounds(None, 0.0))
    measures = stage.measure(units("a b a", "a b a b"))
    assert np.isnan(measures["perplexity"]).tolist() == [True, False]
    assert list(measures["oov_share"]) == [0.0, 0.0]
    assert list(measures["model_tokens"]) == [3.0, 4.0]
    assert stage.judge(measures).tolist() == [0, 1]


def test_bounds_on_either_side(model: LocalPath) -> None:
    low, high = units("a b a b a b"), units("zzz zzz zzz")
    stage = Perplexity(model=model, profile="words", bounds=Bounds(5.0, 50.0), min_tokens=1)
    [rule] = stage.rules()
    assert stage.judge(stage.measure(low)).tolist() == [1]
    assert stage.judge(stage.measure(high)).tolist() == [1]
    assert rule.broken_by(2.0) == ">= 5" and rule.broken_by(99.0) == "<= 50"
    assert Perplexity(model=model, profile="words").rules() == ()
    value = float(stage.measure(low)["perplexity"][0])
    exact = Perplexity(model=model, profile="words", bounds=Bounds(value, value), min_tokens=1)
    assert exact.judge(exact.measure(low)).tolist() == [0]


def test_a_forgetful_vocabulary_gives_the_same(
    model: LocalPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "a zzz b yyy a xxx zzz"
    expected = taken(Perplexity(model=model, profile="words", min_tokens=1), text)
    monkeypatch.setattr("cleanpipe.filters.perplexity._VOCABULARY_CACHE", 1)
    stage = Perplexity(model=model, profile="words", min_tokens=1)
    assert taken(stage, text) == expected
    assert len(stage._vocabulary) == 1


def test_what_stands_beside_the_model(model: LocalPath) -> None:
    beside = Path(f"{model}.json")
    beside.write_text(json.dumps({"profile": "words", "spm": None, "sha256": "abc"}))
    stage = Perplexity(model=model, min_tokens=1)
    assert list(stage.check()) == []
    assert [(each.path, each.sha256) for each in stage.resources()] == [
        (model, "abc"),
        (str(beside), None),
    ]
    assert taken(stage, "a b") == taken(
        Perplexity(model=model, profile="words", min_tokens=1), "a b"
    )


def test_profile_in_the_pipeline(model: LocalPath) -> None:
    stage = Perplexity(model=model, profile="words", sha256="def")
    assert list(stage.check()) == []
    assert [(each.path, each.sha256) for each in stage.resources()] == [(model, "def")]


@pytest.mark.parametrize(
    ("beside", "parameters", "parameter", "words"),
    [
        (None, {}, "model", "tiny.arpa.json"),
        ({}, {}, "model", "expected one of words, characters as the profile, got None"),
        ({"profile": "ccnet"}, {}, "model", "planned"),
        ({"profile": "ccnet"}, {"profile": "words"}, "model", "planned"),
        ({"profile": "nonsense"}, {}, "model", "expected one of words, characters"),
        ({"profile": "words"}, {"profile": "characters"}, "profile", "says words, this says"),
        ({"profile": "words", "spm": "x.model"}, {}, "model", "takes no SentencePiece"),
        ({"profile": "words", "sha256": "a"}, {"sha256": "b"}, "sha256", "says a"),
        ({"profile": "words", "sha256": 5}, {}, "model", "expected a text as sha256"),
        (["words"], {}, "model", "expected a map"),
        ("{", {}, "model", "cannot be read"),
        ({"profile": "words"}, {"min_tokens": 0}, "min_tokens", "at least 1"),
    ],
)
def test_faults(
    model: LocalPath, beside: object, parameters: dict[str, Any], parameter: str, words: str
) -> None:
    if beside is not None:
        text = beside if isinstance(beside, str) else json.dumps(beside)
        Path(f"{model}.json").write_text(text)
    [(where, message)] = Perplexity(model=model, **parameters).check()
    assert where == parameter
    assert words in message


def test_a_missing_model_is_the_engine_s_to_report(tmp_path: Path) -> None:
    stage = Perplexity(model=LocalPath(str(tmp_path / "none.bin")))
    assert list(stage.check()) == []
    assert len(stage.resources()) == 1


@pytest.mark.parametrize("content", [b"", b"no model", b"mmap lm http://kheafield.com/code"])
def test_a_corrupt_model(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.bin"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="is no KenLM model"):
        taken(Perplexity(model=LocalPath(str(path)), profile="words"), "a b")


def test_an_unknown_profile_is_refused_at_work_too(model: LocalPath) -> None:
    with pytest.raises(ConfigError, match="expected one of words, characters"):
        taken(Perplexity(model=model), "a b")


def test_a_missing_module_names_the_distributions(
    model: LocalPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "kenlm":
            raise ImportError("gone")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ConfigError, match="ufal-kenlm.*kenlm-ex"):
        taken(Perplexity(model=model, profile="words"), "a b")


def test_parameters_travel_and_the_model_stays(
    model: LocalPath, capfd: pytest.CaptureFixture[str]
) -> None:
    stage = Perplexity(model=model, profile="words", min_tokens=1)
    taken(stage, "a b")
    again = pickle.loads(pickle.dumps(stage))
    assert again == stage
    assert set(vars(again)) == {"model", "bounds", "profile", "sha256", "min_tokens"}
    assert taken(again, "a b") == taken(stage, "a b")
    assert capfd.readouterr() == ("", "")  # KenLM is a chatty loader


def test_one_batch_or_many(model: LocalPath) -> None:
    stage = Perplexity(model=model, profile="words", min_tokens=1)
    texts = ["a b", "", "zzz. a", "b b b", "a \0"]
    whole = stage.measure(units(*texts))
    for name in stage.takes():
        single = [stage.measure(units(text))[name][0] for text in texts]
        np.testing.assert_array_equal(whole[name], single)
