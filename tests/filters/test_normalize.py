"""``normalize``: what a text becomes, by which edits, and what stays."""

from __future__ import annotations

import importlib.util
import pickle
import unicodedata
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, get_args

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cleanpipe.edits import apply_edits
from cleanpipe.filters.forms import Form
from cleanpipe.filters.normalize import Normalize
from cleanpipe.filters.replacing import Change, changed, composed, edits
from cleanpipe.stage import Edits, Measures
from cleanpipe.units import Units
from tests.filters.table import faults, made
from tests.times import ratio

FORMS = get_args(Form)
HAS_FTFY = importlib.util.find_spec("ftfy") is not None


def rewritten(stage: Normalize, texts: Sequence[str]) -> tuple[list[str], Edits, Measures]:
    column = pa.array(texts, pa.large_string())
    found, measures = stage.rewrite(Units(column))
    new = list(texts)
    for place, text in zip(*apply_edits(column, found), strict=True):
        assert text != new[place]
        new[place] = text
    return new, found, measures


OFF = {"unicode": None, "line_ends": False, "control": False, "zero_width": False}


def only(*names: str, **others: Any) -> Mapping[str, Any]:
    return OFF | dict.fromkeys(names, True) | others


WIDTH, SPACES = only("width"), only("spaces")
CASES: list[tuple[str, Mapping[str, Any], str]] = [
    ("", {}, ""),
    ("word", {}, "word"),
    ("The house, 100 % – “so”.\tYes.\n\n", {}, "The house, 100 % – “so”.\tYes.\n\n"),
    ("今天天气很好，我们去公园散步。（好）", {}, "今天天气很好，我们去公园散步。（好）"),
    ("x² … ﬁ ① Ａ ｶ \u00a0\u3000", {}, "x² … ﬁ ① Ａ ｶ \u00a0\u3000"),
    ("👩‍👩‍👧‍👦🏳️‍🌈1️⃣❤️‍🔥🙂‍↔️", {}, "👩‍👩‍👧‍👦🏳️‍🌈1️⃣❤️‍🔥🙂‍↔️"),
    ("שלום \u202eabc\u202c\u200f", {}, "שלום \u202eabc\u202c\u200f"),
    # Unicode form
    ("e\u0301 A\u030a \u212b", {}, "é Å Å"),
    ("\u1112\u1161\u11ab\u1100\u1173\u11af", {}, "한글"),
    ("Tie\u0302\u0301ng Vie\u0323\u0302t", {}, "Tiếng Việt"),
    ("क\u093c", {"unicode": "NFC"}, "क\u093c"),
    ("\u0301a\u0323\u0301", {}, "\u0301\u1ea1\u0301"),
    ("\uf900 ㊗", {}, "豈 ㊗"),
    ("x² ﬁ ①，Ａ", {"unicode": "NFKC"}, "x2 fi 1,A"),
    ("é 한", {"unicode": "NFD"}, "e\u0301 \u1112\u1161\u11ab"),
    ("e\u0301", {"unicode": None}, "e\u0301"),
    # line ends
    ("a\r\nb\rc\r\n\r\nd\r", {}, "a\nb\nc\n\nd\n"),
    ("a\x0bb\x0cc\x85d\u2028e\u2029f", {}, "a\nb\nc\nd\ne\nf"),
    ("a\r\n\x0b\x85", {"line_ends": False}, "a\r\n\x0b\x85"),
    # control characters
    ("a\x00b\x1b[31mc\x7f\x9f\t\n", {}, "ab[31mc\t\n"),
    ("a\x1cb\x1f\x1ec", {}, "a b  c"),
    ("a\x00b", {"control": False}, "a\x00b"),
    ("a\r\x00\nb", {}, "a\n\nb"),
    # what has no width
    ("\ufeffa\u200bb\u2060c\u00add\ufeff", {}, "abcd"),
    ("a\u200cb\u200dc 好\u200d", {}, "abc 好"),
    ("می\u200cخواهم ه\u200d", {}, "می\u200cخواهم ه\u200d"),
    ("क्\u200dष क्\u200cष", {}, "क्\u200dष क्\u200cष"),
    ("ශ්\u200dරී", {}, "ශ්\u200dරී"),
    ("ᠰᠠᠶᠢᠨ\u200d", {}, "ᠰᠠᠶᠢᠨ\u200d"),
    ("ภาษา\u200bไทย ភាសា\u200b\u200b\u200bខ្មែរ", {}, "ภาษา\u200bไทย ភាសា\u200bខ្មែរ"),
    ("ไทย\u200b \u200bไทย ไทย\u200babc", {}, "ไทย ไทย ไทยabc"),
    ("👩\u200d 👩\u200c👩 a\u200d👩 👩\u200b👩", {}, "👩 👩👩 a👩 👩👩"),
    ("e\u200b\u0301", {}, "é"),
    ("a\u200bb", {"zero_width": False}, "a\u200bb"),
    # width
    ("ＡＢＣ１２３＠ｂ．ｃｏｍ　３．１４％", WIDTH, "ABC123@b.com　3.14%"),
    ("好，（好）！？：；～．", WIDTH, "好，（好）！？：；～．"),
    ("ｶﾞｷﾞﾊﾟﾝ｡｢ｱ｣", WIDTH, "ガギパン。「ア」"),
    ("A\u200b．B", {"width": True}, "A.B"),
    ("x² ①", WIDTH, "x² ①"),
    # spaces
    ("a\u00a0\u202f b\u2003c\u3000\u3000d", SPACES, "a   b c  d"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "parameters", "expected"), CASES)
def test_table(text: str, parameters: Mapping[str, Any], expected: str) -> None:
    stage = made(Normalize, parameters)
    # Among others, so that a mix-up of documents shows.
    texts = ["e\u0301\r\u200b", text, "Other text."]
    new, found, measures = rewritten(stage, texts)
    assert new[1] == expected
    assert new[2] == texts[2]
    assert set(found.unit.tolist()) == {n for n in range(3) if new[n] != texts[n]}
    for unit, rule, value in zip(found.unit, found.rule, found.value, strict=True):
        assert value == measures[stage.rules()[rule - 1].name][unit] > 0
    assert rewritten(stage, new)[0] == new


MISREAD: list[tuple[str, str]] = [
    ("Ã©tÃ©", "été"),
    ("ok\nâ€œhiâ€\x9d then\r\nok é", "ok\n“hi” then\nok é"),
    ("æˆ‘ä»¬å¾ˆå¥½", "我们很好"),
    ("РџСЂРёРІРµС‚", "Привет"),
    ("l\x92eau", "l’eau"),
    ("Привет, мир. Việt Nam. Größe, naïve café – “so” 你好", ""),
    ("AÃO BRASÍLIA", ""),
]


@pytest.mark.skipif(not HAS_FTFY, reason="needs ftfy")
@pytest.mark.parametrize(("text", "expected"), MISREAD)
def test_mojibake(text: str, expected: str) -> None:
    stage = made(Normalize, {"mojibake": True, "control": False})
    new, found, measures = rewritten(stage, ["x", text])
    assert new == ["x", expected or text]
    assert bool(measures["mojibake"][1]) is bool(expected)
    assert 1 in found.rule or not expected
    assert rewritten(stage, new)[0] == new


def test_edits_are_small_and_near_ones_are_one() -> None:
    text = "好\u200b" + "x" * 16 + "\u200b" + "y" * 17 + "\u200bz\n\u200be\u0301 好\u200be\u0301"
    new, found, _ = rewritten(Normalize(), [text])
    names = [Normalize().rules()[rule - 1].name for rule in found.rule]
    # Where two steps touch, it is the second's.
    assert names == ["zero_width", "zero_width", "unicode"]
    assert found.replacement == ["x" * 16, "", "é 好é"]
    size = len(text.encode())
    assert found.start.tolist() == [3, 42, 47]
    assert found.end.tolist() == [25, 45, size]
    assert new == ["好" + "x" * 16 + "y" * 17 + "z\né 好é"]


def test_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    assert faults(Normalize, OFF) == ["unicode: nothing is to be changed: all is off"]
    [message] = faults(Normalize, {"unicode": "NFX"})
    assert message.startswith("unicode: expected 'NFC', 'NFKC', 'NFD' or 'NFKD'")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert faults(Normalize, {"mojibake": True}) == [
        'mojibake: needs ftfy, which is not installed: pip install "cleanpipe[ftfy]"'
    ]


def test_parameters_alone_travel() -> None:
    stage = Normalize(width=True)
    rewritten(stage, ["ａ\r"])
    assert pickle.loads(pickle.dumps(stage)) == stage


ODD = (
    "ae.1 \n\r\t\x00\x1c\x85\u2028\xa0\u3000好，．Ａ１ﾊﾟｶﾞ\u0301\u0323\u0344\u0958\u093c\u09be\u09c7"
    "\u1100\u1161\u11a8\u3133가\u200b\u200c\u200d\u2060\ufeff\xad\u0645\u0e01\u0e33👩❤\ufe0f↔㊗①\u212a"
    "\ufe70\u0f73\u0f71\u1d15e\u2126ﬁ\u037e\U0001d400\U0002f800\u0385\u1fc1"
)
TEXT = st.text(st.one_of(st.sampled_from(ODD), st.characters(exclude_categories=["Cs"])))
BOOLEANS = st.fixed_dictionaries(
    {name: st.booleans() for name in ("line_ends", "control", "zero_width", "width", "spaces")}
)


@settings(max_examples=300, deadline=None)
@given(st.lists(TEXT, max_size=3), st.sampled_from([None, *FORMS]), BOOLEANS)
def test_twice_is_once(texts: list[str], form: Form | None, on: Mapping[str, bool]) -> None:
    stage = Normalize(form, **on)
    if not stage.rules():
        return
    new, found, measures = rewritten(stage, texts)
    again, none, nothing = rewritten(stage, new)
    assert again == new and not len(none)
    assert not any(values.any() for values in nothing.values())
    pairs = enumerate(zip(texts, new, strict=True))
    assert set(found.unit.tolist()) == {n for n, (old, left) in pairs if old != left}
    if form is not None:
        assert all(unicodedata.is_normalized(form, text) for text in new)
    for at in range(len(texts) + 1):  # a batch may be split anywhere
        first, second = rewritten(stage, texts[:at]), rewritten(stage, texts[at:])
        assert first[0] + second[0] == new
        assert [*(first[1].replacement or ()), *(second[1].replacement or ())] == found.replacement
        assert [*first[1].start, *second[1].start] == found.start.tolist()
        for name, values in measures.items():
            assert [*first[2][name], *second[2][name]] == values.tolist()


@settings(max_examples=300, deadline=None)
@given(TEXT, st.sampled_from(FORMS))
def test_a_form_is_the_one_of_unicodedata(text: str, form: Form) -> None:
    stage = Normalize(form, line_ends=False, control=False, zero_width=False)
    assert rewritten(stage, [text])[0] == [unicodedata.normalize(form, text)]


@pytest.mark.parametrize("form", FORMS)
def test_every_character_with_others(form: Form) -> None:
    stage = Normalize(form, line_ends=False, control=False, zero_width=False)
    codes = [*range(0x3400), *range(0xA000, 0xD7B0, 7), *range(0xF900, 0x20000), 0x2F800]
    every = [chr(code) for code in codes if unicodedata.category(chr(code)) != "Cn"]
    text = "".join(f"{one}\u0301\u0323{one}a{one}\u0338" for one in every)
    assert rewritten(stage, [text])[0] == [unicodedata.normalize(form, text)]


@given(st.text(st.sampled_from("abcd"), max_size=12), st.data())
def test_changes_of_two_steps_as_one(text: str, data: st.DataObject) -> None:
    def some(of: str) -> list[Change]:
        places = sorted(data.draw(st.lists(st.integers(0, len(of)), max_size=6)))
        pairs = list(zip(places[::2], places[1::2], strict=False))
        return [Change(a, b, data.draw(st.text("XY", max_size=3)), 0) for a, b in pairs if a < b]

    first = some(text)
    between = changed(text, first)
    second = some(between)
    both = composed(first, between, second)
    assert all(a.end <= b.start for a, b in zip(both, both[1:], strict=False))
    assert changed(text, both) == changed(between, second)
    assert changed(text, edits(text, both)) == changed(text, both)  # one byte a character here


@pytest.mark.parametrize(
    "unit",
    ["a", "好", "\u200b", "e\u0301", "\r\n", "\x00a", "\u1100\u1161", "ก\u200b", "Ａ", "Ã©",
     "\u0301", "\u0301\u0323"],
)  # fmt: skip
def test_a_long_line(unit: str) -> None:
    stage = Normalize("NFKC", width=True, spaces=True, mojibake=HAS_FTFY)

    def units(size: int) -> Units:
        return Units(pa.array(["a" + unit * (size // len(unit.encode()))], pa.large_string()))

    short, long = (partial(stage.rewrite, units(size)) for size in (2**16, 2**18))
    assert ratio(long, short, 12, 0.05) < 12
