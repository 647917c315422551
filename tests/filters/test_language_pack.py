"""``language_pack``: what a pack says is what is judged; every number has its source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cleanpipe as cp
from cleanpipe.bounds import Bounds
from cleanpipe.document import Document
from cleanpipe.filters import packs
from cleanpipe.filters.language_pack import LanguagePack
from cleanpipe.parameters import LocalPath

from .table import faults, made, table
from .test_word_order import CHINESE, PROSE


def only(pack: str, **bounds: Any) -> dict[str, Any]:
    """Parameters that turn every other limit off."""
    return {"pack": pack, "change": {**dict.fromkeys(packs.MEASURES), **bounds}}


def limits(pack: str, unit: str) -> dict[str, Bounds]:
    return dict(packs.read(LocalPath(pack))[unit].bounds)


REPEATED = {"span_repeats": [None, 4]}

test_language_pack = table(
    LanguagePack,
    [
        ("buy it " * 4, only("en", **REPEATED), None),
        ("buy it " * 5, only("en", **REPEATED), "span_repeats"),
        ("天气" * 4, only("zh", **REPEATED), None),
        ("天气" * 5, only("zh", **REPEATED), "span_repeats"),
        ("buy\r\n" * 5, only("en", **REPEATED), "span_repeats"),
        ("", only("en", **REPEATED), None),
        ("word", only("en", **REPEATED), None),
        ("🎉" * 200, only("en", **REPEATED), None),
        ("שלום עולם " * 5, only("en", **REPEATED), "span_repeats"),
        ("a" * 1_000_000, only("en", **REPEATED), None),
    ],
)


@pytest.mark.parametrize(
    ("text", "parameters", "rule"),
    [
        (PROSE, {"pack": "en"}, None),
        (PROSE, {"pack": "en", "unit": "line"}, None),
        (CHINESE, {"pack": "zh"}, None),
        (CHINESE, {"pack": "zh", "unit": "line"}, None),
        (PROSE, {"pack": "en", "change": {"tokens": [None, 20]}}, "tokens"),
        (PROSE, {"pack": "en", "change": {"tokens": [None, 20]}, "min_tokens": 500}, None),
        ("buy cheap shoes " * 16, {"pack": "en"}, None),
        ("buy cheap shoes " * 17, {"pack": "en"}, "top_2_gram_share"),
        ("正品最便宜" * 10, {"pack": "zh"}, "top_2_gram_share"),
        ("", {"pack": "en"}, None),
        ("🎉" * 200, {"pack": "zh"}, None),
    ],
)
def test_in_a_pipeline(text: str, parameters: dict[str, Any], rule: str | None) -> None:
    pipe = cp.Pipeline.from_dict({"stages": [{"language_pack": parameters}]})
    dropped = pipe.run(["Other text.", text]).dropped.to_pylist()
    assert [(row["id"], row["rule"]) for row in dropped] == ([(1, rule)] if rule else [])


@pytest.mark.parametrize("pack", packs.shipped())
@pytest.mark.parametrize("unit", ["document", "line"])
def test_every_limit_is_a_rule(pack: str, unit: str) -> None:
    members = dict(made(LanguagePack, {"pack": pack, "unit": unit}).expand())
    assert list(members) == list(limits(pack, unit))
    assert {member.min_tokens for member in members.values()} == {
        packs.read(LocalPath(pack))[unit].min_tokens
    }
    for name, member in members.items():
        assert [rule.bounds for rule in member.rules()] == [limits(pack, unit)[name]]


@pytest.mark.parametrize("pack", packs.shipped())
def test_every_number_says_where_it_is_from(pack: str) -> None:
    path = packs.file_of(LocalPath(pack))
    content = Path(path).read_text("utf-8")
    assert "python scripts/language_pack.py" in content
    for part in Document.read(path).tree["units"].values():
        assert all({"characters"} < text.keys() for text in part["texts"].values())
        for ends in part["limits"].values():
            for end in ends.values():
                assert end.keys() == {"value", "percentile", "text"}
                assert end["text"] in part["texts"] and 0 <= end["percentile"] <= 100


def test_the_packs_that_ship() -> None:
    assert packs.shipped() == ["en", "zh"]
    # The words of Chinese are not divided by spaces, and its characters recur more.
    english, chinese = limits("en", "document"), limits("zh", "document")
    assert "mean_word_length" in english and "mean_word_length" not in chinese
    assert english["top_2_gram_share"] != chinese["top_2_gram_share"]


def test_changes() -> None:
    changed = {"span_repeats": [None, 9], "digit_share": None, "tokens": [5, None]}
    members = dict(made(LanguagePack, {"pack": "en", "change": changed}).expand())
    assert members["span_repeats"].rules()[0].bounds == Bounds(None, 9)
    assert members["tokens"].rules()[0].bounds == Bounds(5, None)
    assert "digit_share" not in members


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("language: xx\n", "expected units"),
        ("units: {}\n", "expected units"),
        ("units: {document: {}}\n", "expected min_tokens and limits"),
        ("units: {document: {limits: {nonsense: {max: {value: 1}}}}}\n", "is no measure"),
        ("units: {document: {limits: {tokens: {max: 1}}}}\n", "each with its value"),
        ("units: {document: {limits: {tokens: {max: {value: few}}}}}\n", "each with its value"),
        ("units: {line: {limits: {tokens: {max: {value: 1}}}}}\n", "has limits for line only"),
    ],
)
def test_a_pack_with_faults(content: str, fault: str, tmp_path: Path) -> None:
    (tmp_path / "xx.yaml").write_text(content, "utf-8")
    (found,) = faults(LanguagePack, {"pack": str(tmp_path / "xx.yaml")})
    assert fault in found


def test_parameters_with_faults(tmp_path: Path) -> None:
    (found,) = faults(LanguagePack, {"pack": "zg"})
    assert 'no pack is called "zg"' in found
    (found,) = faults(LanguagePack, {"pack": str(tmp_path / "none.yaml")})
    assert "no such file" in found
    (found,) = faults(LanguagePack, {"pack": "en", "change": {"digits": None}})
    assert found.startswith("change.digits") and "digit_share" in found


def test_min_tokens_zero_judges_all() -> None:
    members = dict(made(LanguagePack, {"pack": "en", "min_tokens": 0}).expand())
    assert {member.min_tokens for member in members.values()} == {0}


@pytest.mark.parametrize("least", ["abc", "[1]", ".inf", "-1", "1" * 400])
def test_a_packs_min_tokens(least: str, tmp_path: Path) -> None:
    content = f"units: {{document: {{min_tokens: {least}, limits: {{}}}}}}"
    (tmp_path / "xx.yaml").write_text(content, "utf-8")
    (found,) = faults(LanguagePack, {"pack": str(tmp_path / "xx.yaml")})
    assert "units.document.min_tokens: expected a number" in found


def test_a_list_of_pairs_at_fault(tmp_path: Path) -> None:
    content = "units: {document: {limits: {odd_pair_share: {max: {value: 0.1}}}}}"
    (tmp_path / "xx.yaml").write_text(content, "utf-8")
    (found,) = faults(LanguagePack, {"pack": str(tmp_path / "xx.yaml")})
    assert "xx.pairs.txt: cannot be read" in found
    (tmp_path / "xx.pairs.txt").write_text("one two\nthree\n", "utf-8")
    (found,) = faults(LanguagePack, {"pack": str(tmp_path / "xx.yaml")})
    assert '"three" is no pair' in found
