"""``perplexity``: a model written by hand, whose numbers can be checked on paper."""

from __future__ import annotations

import builtins
import json
import pickle
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sentencepiece

from cleanpipe import _native
from cleanpipe.bounds import Bounds
from cleanpipe.errors import ConfigError
from cleanpipe.filters.perplexity import BUCKETS, Perplexity
from cleanpipe.parameters import LocalPath, build
from cleanpipe.percentiles import Percentiles
from cleanpipe.pipeline import Pipeline
from cleanpipe.units import Units

from ..language_models import known_pieces, pieces_of, write_arpa
from ..native.reference_models import ccnet

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
    monkeypatch.setattr("cleanpipe.filters.vocabulary._MOST", 1)
    stage = Perplexity(model=model, profile="words", min_tokens=1)
    assert taken(stage, text) == expected


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
        ({}, {}, "model", "expected one of words, characters, ccnet as the profile, got None"),
        ({"profile": "ccnet"}, {}, "profile", "needs the SentencePiece model"),
        ({"profile": "ccnet"}, {"profile": "words"}, "profile", "says ccnet, this says words"),
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
    assert set(vars(again)) == {field.name for field in fields(Perplexity)}
    assert taken(again, "a b") == taken(stage, "a b")
    assert capfd.readouterr() == ("", "")  # KenLM is a chatty loader


def test_one_batch_or_many(model: LocalPath) -> None:
    stage = Perplexity(model=model, profile="words", min_tokens=1)
    texts = ["a b", "", "zzz. a", "b b b", "a \0"]
    whole = stage.measure(units(*texts))
    for name in stage.takes():
        single = [stage.measure(units(text))[name][0] for text in texts]
        np.testing.assert_array_equal(whole[name], single)


# ---- percentiles and buckets ----

ENDLESS = [" ".join("ab"[(n >> bit) & 1] for bit in range(8)) for n in range(256)]
"""Texts of different perplexities."""


def built(folder: Path, **parameters: Any) -> Perplexity:
    stage, faults = build(
        Perplexity, {"model": "tiny.arpa", "profile": "words", "min_tokens": 1, **parameters},
        str(folder),
    )  # fmt: skip
    assert not faults, faults
    assert isinstance(stage, Perplexity)
    return stage


def faults_of(folder: Path, **parameters: Any) -> Sequence[Any]:
    values = {"model": "tiny.arpa", "profile": "words", "min_tokens": 1, **parameters}
    return build(Perplexity, values, str(folder))[1]


def reference(folder: Path, texts: Sequence[str]) -> str:
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    (folder / "reference.jsonl").write_text(lines)
    return "reference.jsonl"


def numbers(stage: Perplexity, texts: Sequence[str]) -> Any:
    return stage.measure(units(*texts))["perplexity"]


def test_percentiles_of_a_reference(model: LocalPath, tmp_path: Path) -> None:
    of = reference(tmp_path, ["", *ENDLESS])  # the empty text has no perplexity
    stage = built(tmp_path, bounds={"percentile": [10, 90], "of": of})
    assert str(stage.rules()[0].bounds) == "percentiles >= 10 and <= 90 of reference.jsonl"
    assert [each.path for each in stage.resources()] == [model, str(tmp_path / of)]
    settled = stage.settled()
    low, high = np.percentile(numbers(stage, ENDLESS), [10, 90])
    assert settled.rules()[0].bounds == Bounds(low, high)
    assert settled.settled() is settled
    measures = settled.measure(units(*ENDLESS))
    kept = (settled.judge(measures) == 0).mean()
    assert 0.75 < kept < 0.85


def test_one_end_and_both_parameters(model: LocalPath, tmp_path: Path) -> None:
    of = reference(tmp_path, ENDLESS)
    stage = built(
        tmp_path,
        bounds={"percentile": [None, 60], "of": of},
        buckets={"percentile": [30, 60], "of": [of]},
    ).settled()
    third, sixth = np.percentile(numbers(stage, ENDLESS), [30, 60])
    assert stage.rules()[0].bounds == Bounds(None, sixth)
    labels = stage.measure(units(*ENDLESS, ""))["bucket"].tolist()
    values = numbers(stage, ENDLESS)
    wanted = [BUCKETS[int(value >= third) + int(value >= sixth)] for value in values]
    assert labels == [*wanted, None]
    assert set(wanted) == set(BUCKETS)


def test_numbers_as_buckets(model: LocalPath, tmp_path: Path) -> None:
    texts = ENDLESS[:20]
    values = numbers(built(tmp_path), texts)
    low, high = sorted(values)[5], sorted(values)[15]
    stage = built(tmp_path, buckets=[low, high])
    assert stage.rules() == () and "bucket" in stage.takes()
    assert "bucket" not in built(tmp_path).takes()
    labels = stage.measure(units(*texts))["bucket"].tolist()
    # CCNet: head lies below the first number, middle below the second.
    assert labels == [BUCKETS[int(value >= low) + int(value >= high)] for value in values.tolist()]
    assert labels[int(np.flatnonzero(values == low)[0])] == "middle"


def test_what_the_model_s_file_states(model: LocalPath, tmp_path: Path) -> None:
    values = [float(10 + at) for at in range(101)]
    stated = {"profile": "words", "percentiles": {"documents": 500, "values": values}}
    Path(f"{model}.json").write_text(json.dumps(stated))
    stage = built(tmp_path, bounds={"percentile": [2.5, 60]}).settled()
    assert stage.rules()[0].bounds == Bounds(12.5, 70.0)


def test_what_ccnet_published(model: LocalPath, tmp_path: Path) -> None:
    """Its English head ends at 340, its Chinese tail begins at 1950."""
    stage = built(tmp_path, buckets={"percentile": [30, 60], "of": "ccnet.en"}).settled()
    assert isinstance(stage.buckets, Percentiles) and stage.buckets.found == Bounds(340, 520)
    chinese = built(tmp_path, bounds={"percentile": [None, 60], "of": "ccnet.zh"}).settled()
    assert chinese.rules()[0].bounds == Bounds(None, 1950)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"bounds": {"percentile": [10, 90]}}, "states no percentiles: say `of:`"),
        ({"bounds": {"percentile": [10, 90], "of": "none.jsonl"}}, "no file matches none.jsonl"),
        ({"bounds": {"percentile": [0.05, 0.95], "of": "x"}}, "write 95 for a share of 0.95"),
        ({"bounds": {"percentile": [10, 190], "of": "x"}}, "percentiles from 0 to 100, got 190"),
        ({"bounds": {"percentile": [90, 10], "of": "x"}}, "nothing passes"),
        ({"bounds": {"percentile": [10, 90], "off": "x"}}, 'got "off"'),
        ({"bounds": {"percentile": [None, None]}}, "at one end at least"),
        ({"bounds": {"percentile": [1, 2], "of": 3}}, "a path or a list of them"),
        ({"bounds": {"percentile": [2, 60], "of": "ccnet.xx"}}, 'published none for "xx"'),
        ({"bounds": {"percentile": [3, 60], "of": "ccnet.en"}}, "percentile 3 is not known"),
        ({"buckets": [10, None]}, "expected two numbers"),
        ({"buckets": {"percentile": [None, 5], "of": "ccnet.en"}}, "expected two numbers"),
        ({"spm": "tiny.arpa"}, "the profile words takes no SentencePiece model"),
        ({"profile": "ccnet"}, "needs the SentencePiece model"),
    ],
)  # fmt: skip
def test_faults_of_percentiles(
    model: LocalPath, tmp_path: Path, parameters: dict[str, Any], words: str
) -> None:
    [(_, message)] = faults_of(tmp_path, **parameters)
    assert words in message


def test_a_reference_too_small(model: LocalPath, tmp_path: Path) -> None:
    of = reference(tmp_path, ENDLESS[:99])
    stage = built(tmp_path, bounds={"percentile": [10, 90], "of": of})
    with pytest.raises(ConfigError, match="99 texts have 1 tokens or more; .* at least 100"):
        stage.settled()


def test_a_reference_too_small_inside_a_rewriter(model: LocalPath, tmp_path: Path) -> None:
    """Said with its place, and together with what else cannot be found."""
    of = str(tmp_path / reference(tmp_path, ENDLESS[:9]))
    stage = {"model": str(model), "profile": "words", "bounds": {"percentile": [1, 9], "of": of}}
    inside = {"remove": {"unit": "line", "failing": [{"perplexity": stage}]}}
    with pytest.raises(ConfigError) as caught:
        Pipeline.from_dict({"stages": [inside, {"perplexity": stage}]})
    assert [fault.path for fault in caught.value.faults] == [
        "stages[0].remove",
        "stages[1].perplexity",
    ]


def test_in_a_pipeline(model: LocalPath, tmp_path: Path) -> None:
    """The plan prints the numbers, ``kept`` has the bucket, the summary counts short texts."""
    of = str(tmp_path / reference(tmp_path, ENDLESS))
    stage = {
        "model": str(model),
        "profile": "words",
        "min_tokens": 2,
        "bounds": {"percentile": [None, 90], "of": of},
        "buckets": {"percentile": [30, 60], "of": of},
    }
    inside = {"failing": [{"perplexity": {**stage, "buckets": None}}], "unit": "line"}
    pipe = Pipeline.from_dict({"stages": [{"remove": inside}, {"perplexity": stage}]})
    described = pipe.describe()["stages"]
    found = described[1]["parameters"]["bounds"]["found"]
    assert found == [None, pytest.approx(np.percentile(numbers(built(tmp_path), ENDLESS), 90))]
    [[_, inner]] = described[0]["parameters"]["failing"]
    assert inner["perplexity"]["bounds"]["found"] == found
    result = pipe.run(["a", "a b a b a b", "zzz yyy xxx", "b b b b"])
    assert result.kept["text"].to_pylist() == ["a", "a b a b a b"]
    buckets = [lineage["bucket"] for lineage in result.kept["cleanpipe"].to_pylist()]
    assert buckets == [None, "head"]
    assert [each["too_short"] for each in result.summary["stages"]] == [0, 1]


# ---- ccnet ----


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        (" \n\t\u3000", ""),
        ("  Hello World \n", "hello world"),
        ("\xa0\x85a\u2028", "a"),  # white space at the ends, as Python's strip
        ("one\ntwo", "onetwo"),  # a line break is a control character, and goes
        ("a\tb\x00c\x1bd\x7fe\x9ff", "abcdef"),
        ("a\xa0b", "a\xa0b"),  # U+00A0 is none
        ("Café Ångström naïve", "cafe angstrom naive"),
        ("Cafe\u0301", "cafe"),
        ("İstanbul ISTANBUL", "istanbul istanbul"),  # U+0130 is i and a dot above
        ("Straße ẞ", "straße ß"),
        ("ΟΔΟΣ Σ", "οδος σ"),  # a sigma at a word's end
        ("Ð đ ø ł", "ð đ ø ł"),  # strokes are no marks
        ("１２３ ٣ ३ ๕ 2024", "000 0 0 0 0000"),
        ("x² ½ ⅷ ①", "x² ½ ⅷ ①"),  # numbers, but no decimal digits
        ("ＡＢＣ", "ａｂｃ"),  # width stays: the decomposition is canonical
        ("ﬁ ㎏", "ﬁ ㎏"),
        ("한국어", "한국어"),  # decomposed Hangul has no marks
        ("हिन्दी", "हिनदी"),  # the virama is Mn; the vowel signs i and ii are Mc
        ("ไทยที่", "ไทยท"),  # Thai vowels and tones above are Mn
        ("אָ שׁלוֹם", "א שלום"),
        ("カバ ガ", "カハ カ"),  # the voicing mark is Mn
        ("，。、„”“«»」「《》", ',.,"""""""""'),
        ("´∶：？！（）；", "'::?!();"),
        ("–—．～’…━〈〉【】％►", "- - . ~'...-<>[]%-"),
        ("‘a’ ‚b‛", "‘a' ‚b‛"),  # only what the map has
        ("1）", "0)"),
    ],
)
def test_ccnet_normalisation(text: str, line: str) -> None:
    offsets, data = _native.ccnet_lines(pa.array([text]))
    assert data.tobytes().decode() == unicodedata.normalize("NFD", line) == ccnet(text)


TEXTS = ["the cat sat on the mat", "the hat of the cat", "a mat a hat a cat", "on the mat"]


@pytest.fixture
def subwords(tmp_path: Path) -> dict[str, Any]:
    """A SentencePiece model and a language model of its pieces."""
    pieces = pieces_of(tmp_path / "tiny.sp.model", TEXTS)
    write_arpa(tmp_path / "pieces.arpa", known_pieces(pieces))
    model = {"model": "pieces.arpa", "spm": "tiny.sp.model"}
    return {**model, "profile": "ccnet", "min_tokens": 1}


def test_ccnet_takes_a_document_as_one_line(tmp_path: Path, subwords: dict[str, Any]) -> None:
    stage = built(tmp_path, **subwords)
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "tiny.sp.model"))
    text = "The CAT\n sat: 1 mat"
    tokens = pieces.encode("the cat sat: 0 mat", out_type=str)
    unknown = [token for token in tokens if token not in stage._model]
    assert unknown, "the colon and the digit"
    first = -0.5 if tokens[0] == pieces.id_to_piece(3) else -0.25 - 1.5
    log10 = first - 2 * len(unknown) - 1.5 * (len(tokens) - len(unknown) - 1) - 1
    perplexity, oov, count = taken(stage, text)
    assert count == len(tokens) and oov == len(unknown) / len(tokens)
    assert perplexity == pytest.approx(10 ** (-log10 / (count + 1)), rel=1e-6)
    assert [each.path for each in stage.resources()] == [
        str(tmp_path / "pieces.arpa"),
        str(tmp_path / "tiny.sp.model"),
    ]


def test_spm_beside_the_model(tmp_path: Path, subwords: dict[str, Any]) -> None:
    stated = {"profile": "ccnet", "spm": "tiny.sp.model"}
    (tmp_path / "pieces.arpa.json").write_text(json.dumps(stated))
    stage = built(tmp_path, model="pieces.arpa", profile=None)
    assert taken(stage, "the cat") == taken(built(tmp_path, **subwords), "the cat")
    assert [Path(each.path).name for each in stage.resources()] == [
        "pieces.arpa",
        "pieces.arpa.json",
        "tiny.sp.model",
    ]


def test_special_tokens_in_the_text(tmp_path: Path) -> None:
    pieces_of(tmp_path / "tiny.sp.model", TEXTS)
    write_arpa(tmp_path / "pieces.arpa", ["\u2581the", "\u2581cat", "a"])
    stage = Perplexity(
        model=LocalPath(str(tmp_path / "pieces.arpa")),
        spm=LocalPath(str(tmp_path / "tiny.sp.model")),
        profile="ccnet",
        min_tokens=1,
    )
    for text in ("<s>", "</s>", "<unk>"):
        perplexity, oov, _ = taken(stage, f"the {text} cat")
        assert np.isfinite(perplexity) and 0 < oov <= 1


@pytest.mark.parametrize(
    ("words", "profile", "message"),
    [
        (["the", "The"], "words", 'it knows "The"'),
        (["the", "2"], "words", 'it knows "2"'),
        (["▁the", "▁"], "words", 'it knows "▁"'),
        (["中", "中国"], "characters", 'it knows "中国"'),
        (["The", "of"], "characters", None),
        (["the", "of"], "words", None),
    ],
)
def test_a_model_of_other_text(
    tmp_path: Path, words: list[str], profile: str, message: str | None
) -> None:
    write_arpa(tmp_path / "other.arpa", words)
    faults = faults_of(tmp_path, model="other.arpa", profile=profile)
    if message is None:
        assert not faults
    else:
        [(place, said)] = faults
        assert place == ("model",) and message in said and profile in said


def test_pieces_of_another_language(tmp_path: Path, subwords: dict[str, Any]) -> None:
    pieces_of(tmp_path / "other.model", ["zzyx wvut qjk"] * 9 + ["jqk xyz tuv"])
    [(place, message)] = faults_of(tmp_path, **{**subwords, "spm": "other.model"})
    assert place == ("spm",)
    assert re.search(r"of its 24 pieces the language model knows \d: it was trained with", message)
    (tmp_path / "bad.model").write_bytes(b"no model")
    [(_, message)] = faults_of(tmp_path, **{**subwords, "spm": "bad.model"})
    assert "is no SentencePiece model" in message
