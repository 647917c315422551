"""``word_order``: pairs that no text has, and what a neighbour is."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from cleanpipe.errors import ConfigError
from cleanpipe.filters.word_order import WordOrder, pair_share, pairs_of

from .table import faults, table

EN, ZH = {"pack": "en"}, {"pack": "zh"}
NONE = {"odd_pair_share": [None, 0]}
PROSE = (
    "The house at the end of the road was built by a man who had come from the north, and it has "
    "been in the family for more than a hundred years. He did not live to see the garden that is "
    "now the pride of the town. Most of the trees are from the time of his son."
)
CHINESE = (
    "这座房子是一位从北方来的人在一百多年前建造的，一直属于同一个家族。他没有看到现在的花园，"
    "那是这个城市的骄傲。大部分的树是他的儿子在世的时候种下的，其中有一些已经很高了。"
)


def shuffled(words: list[str], space: str) -> str:
    return space.join(random.Random(1).sample(words, len(words)))


test_word_order = table(
    WordOrder,
    [
        (PROSE, {**EN, "odd_pair_share": [None, 0.02]}, None),
        (shuffled(PROSE.split(), " "), {**EN, "odd_pair_share": [None, 0.06]}, "odd_pair_share"),
        (CHINESE, {**ZH, "odd_pair_share": [None, 0.02]}, None),
        (shuffled(list(CHINESE), ""), {**ZH, "odd_pair_share": [None, 0.06]}, "odd_pair_share"),
        ("the of", {**EN, **NONE}, "odd_pair_share"),
        ("THE Of", {**EN, **NONE}, "odd_pair_share"),
        ("of the", {**EN, **NONE}, None),
        ("qx qy the of qz", {**EN, "odd_pair_share": [None, 0.25]}, None),
        ("qx qy the of", {**EN, "odd_pair_share": [None, 0.25]}, "odd_pair_share"),
        ("qx qy the of qz", {**EN, "odd_pair_share": {"below": 0.25}}, "odd_pair_share"),
        ("the, it", {**EN, **NONE}, "odd_pair_share"),
        ("的的", {**ZH, **NONE}, "odd_pair_share"),
        ("好。天", {**ZH, **NONE}, None),
        ("", {**EN, **NONE}, None),
        ("the", {**EN, **NONE}, None),
        ("the\nof", {**EN, **NONE}, "odd_pair_share"),
        ("the\r\nof", {**EN, **NONE}, None),
        (PROSE.replace(" ", "\u00a0"), {**EN, "odd_pair_share": [None, 0.02]}, None),
        ("the\u00a0of", {**EN, **NONE}, "odd_pair_share"),
        ("the\u3000of", {**EN, **NONE}, "odd_pair_share"),
        ("the \u200bof", {**EN, **NONE}, "odd_pair_share"),
        ("t\u00adhe of", {**EN, **NONE}, "odd_pair_share"),
        ("the\u00a0house", {**EN, **NONE}, None),
        ("the \u200bhouse", {**EN, **NONE}, None),
        ("🎉 🎉", {**EN, **NONE}, None),
        ("שלום עולם", {**EN, **NONE}, None),
        ("the of " * 150_000, {**EN, "odd_pair_share": [None, 0.4]}, "odd_pair_share"),
    ],
)


def test_neighbours() -> None:
    pairs = pairs_of(["a b", "b ,", ", c"], "list")
    texts = pa.array(["", "a b", "b a", "a  b", "a b, c", "a\tb!c", "x"], pa.large_string())
    expected = [0, 1, 0, 0, 1, 1, 0]
    for some in (texts, texts.slice(1), pa.concat_arrays([texts, texts]).slice(len(texts))):
        found = pair_share(some, pairs)
        np.testing.assert_array_equal(found, expected[len(texts) - len(some) :])


@pytest.mark.parametrize("line", ["a", "a b c", "a  b", ", ,", "a ;", "ab-c d"])
def test_what_is_no_pair(line: str) -> None:
    with pytest.raises(ConfigError, match="is no pair of tokens"):
        pairs_of(["a b", line], "list")


def test_packs_with_faults(tmp_path: Path) -> None:
    bounds = {"odd_pair_share": [None, 0.1]}
    (fault,) = faults(WordOrder, {"pack": "eng", **bounds})
    assert 'no pack is called "eng"' in fault and 'did you mean "en"' in fault
    (fault,) = faults(WordOrder, {"pack": str(tmp_path / "xx.yaml"), **bounds})
    assert "xx.pairs.txt" in fault
    (tmp_path / "xx.pairs.txt").write_text("# none\none two\nthree\n", "utf-8")
    (fault,) = faults(WordOrder, {"pack": str(tmp_path / "xx.yaml"), **bounds})
    assert '"three" is no pair' in fault
