"""What the benchmark of the rules stands on: edits followed back, junk where it is said to be."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from benchmarks.rules import junk
from benchmarks.rules.__main__ import Outcome, table
from benchmarks.rules.judging import Verdict, judge
from benchmarks.rules.junk import KINDS, Material
from benchmarks.rules.reference import Clean, half_of

ENGLISH = Material(
    "en",
    [
        'The "house" at the end of the road was built by a man who came from the north, long ago. '
        "He didn't live to see the garden that is now the pride of the town and of its people. "
        "Most of the trees are from the time of his son, who planted them with his own hands."
    ],
    ["A house", "The garden"],
    ["house", "garden", "north", "pride", "trees"],
    [["Home", "News", "Sports", "Weather", "Contact", "About"]],
    ["http://example.org/a", "https://example.com/b"],
    ["cock", "damn", "tits", "two words"],
)
CHINESE = Material(
    "zh",
    [
        "这座房子是一位从北方来的人在一百多年前建造的，一直属于同一个家族，至今还在那里。"
        "他没有看到现在的花园，那是这个城市的骄傲，每年都有很多人从远方来参观这个地方。"
    ],
    ["房子", "花园"],
    ["房子", "花园", "北方", "骄傲", "城市"],
    [["首页", "新闻", "体育", "天气", "联系", "关于"]],
    ["http://example.org/a"],
    ["鸡巴", "妓女", "淫荡", "操你妈"],
)


@pytest.mark.parametrize("of", [ENGLISH, CHINESE], ids=lambda of: of.language)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("alone", [True, False])
def test_junk(of: Material, kind: str, alone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junk, "material", lambda language, half: of)
    monkeypatch.setattr(junk, "HOST_CHARACTERS", {"en": (0, 9999), "zh": (0, 9999)})
    made = [
        one
        for one in junk.planted(of.language, "test", 3, 1)
        if (one.kind, one.alone) == (kind, alone)
    ]
    assert made == [
        one
        for one in junk.planted(of.language, "test", 3, 1)
        if (one.kind, one.alone) == (kind, alone)
    ]
    assert len(made) == 3
    host = of.documents[0]
    for one in made:
        content = one.text.encode()
        assert one.spans == sorted(one.spans) and all(start < end for start, end in one.spans)
        clean = bytearray(content)
        for start, end in reversed(one.spans):
            del clean[start:end]
        if alone and kind != "mojibake":
            assert not clean
        if not alone and kind != "mojibake":
            assert clean.decode().replace("\n", "") == host.replace("\n", "")
        if kind == "mojibake":
            assert all(content[start:end].decode() not in host for start, end in one.spans)


def test_shuffled_words_are_the_same_words() -> None:
    ((text, _),) = junk.shuffled_words(ENGLISH, random.Random(1))
    assert set(junk.words_of(text)) <= set(junk.words_of(ENGLISH.documents[0]))
    assert text not in ENGLISH.documents[0]


RECIPE = """\
stages:
  - remove: {unit: line, failing: [{length: {chars: [4, null]}}]}
    name: first
  - remove: {unit: sentence, failing: [{symbols: {symbol_share: [null, 0.3]}}]}
    name: second
  - length: {tokens: [3, null]}
  - exact: {}
"""


def test_edits_are_followed_back(tmp_path: Path) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text(RECIPE, "utf-8")
    texts = ["ab\nÉcoute, one. $$$$. Two stays here.\nab\nThree is here.", "one two", "a b c d"]
    one, two, three = judge(str(path), [*texts[:2], texts[2]])
    content = texts[0].encode()
    gone = {
        one.rules[code - 1]: bytes(
            byte for byte, by in zip(content, one.gone.tolist(), strict=True) if by == code
        ).decode()
        for code in range(1, len(one.rules) + 1)
    }
    assert {rule: text.strip() for rule, text in gone.items()} == {
        "first.length.chars": "ab\nab",
        "second.symbols.symbol_share": "$$$$.",
    }
    start = content.index(b"$$$$")
    assert one.caught([(start, start + 4)]) == "second.symbols.symbol_share"
    assert one.caught([(0, 2), (start, start + 4)]) == "second.symbols.symbol_share"
    assert one.caught([(0, 2)]) == "first.length.chars"
    assert one.caught([(0, 10)]) is None
    assert (two.dropped, two.caught([(0, 1)])) == ("length.tokens",) * 2
    assert three.dropped is None and not three.gone.any()


def test_shares() -> None:
    kept, dropped = (Verdict(rule, np.zeros(4, np.int16), []) for rule in (None, "length.tokens"))
    clean = [(Clean("a", str(at), ""), verdict) for at, verdict in enumerate([kept, dropped])]
    made = [junk.Planted(kind, alone, "x", [(0, 1)]) for kind in KINDS for alone in (True, False)]
    found = Outcome(clean, [(one, "rule" if one.alone else None) for one in made])
    assert found.wrongly == 0.5
    assert found.caught("spam") == 0.5
    assert (found.caught("spam", True), found.caught("spam", False)) == (1.0, 0.0)
    lines = table(found)
    assert lines[1].split() == ["dropped", "or", "removed", *["50.0", "%"] * 9]


def test_halves() -> None:
    halves = [half_of(str(number)) for number in range(1000)]
    assert 400 < halves.count("derive") < 600
    assert half_of("a") == half_of("a")
