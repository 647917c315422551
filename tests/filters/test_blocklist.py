"""``blocklist``: what counts as a hit, where it stood, and lists that are at fault."""

from __future__ import annotations

import pickle
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cleanpipe.bounds import Bounds
from cleanpipe.errors import ConfigError
from cleanpipe.filters import matching
from cleanpipe.filters.blocklist import Blocklist
from cleanpipe.filters.boundaries import dictionary_breaks
from cleanpipe.parameters import LocalPath, build
from cleanpipe.units import Units

Make = Callable[..., Blocklist]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(phrases: Sequence[str], exempt: Sequence[str] = (), **parameters: Any) -> Blocklist:
        (tmp_path / "phrases.txt").write_text("\n".join(phrases), encoding="utf-8")
        (tmp_path / "exempt.txt").write_text("\n".join(exempt), encoding="utf-8")
        return Blocklist(
            phrases=(LocalPath(str(tmp_path / "phrases.txt")),),
            exempt=(LocalPath(str(tmp_path / "exempt.txt")),) if exempt else (),
            **parameters,
        )

    return made


def units(*texts: str) -> Units:
    return Units(pa.array(texts, pa.large_string()))


def hits(stage: Blocklist, text: str) -> list[str]:
    return [text[start:end] for start, end in stage.spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n", []),
        ("ass", ["ass"]),
        ("An ASS, an aSs.", ["ASS", "aSs"]),
        ("a class, assets, bass, 1ass, ass2, ass\u0301", []),
        ("_ass_ (ass) ass's", ["ass", "ass", "ass"]),
        ("fat ass", ["fat ass"]),
        ("fat\nass", ["ass"]),
        ("fat asset", []),
        ("ａｓｓ　Ａｓｓ", ["ａｓｓ", "Ａｓｓ"]),
        ("ﬁlth and ﬁlthy", ["ﬁlth"]),
        ("İbne ibne IBNE", ["İbne", "ibne", "IBNE"]),
        ("STRASSENKÖTER straßenköter", ["STRASSENKÖTER", "straßenköter"]),
        ("Er aß im Gras.", []),
        ("no. 13. and 13.27, 4.13.13 or 13.,", ["13.", "13."]),
        ("13.章", ["13."]),
        ("👍 🖕🏽🖕\ufe0f", ["🖕", "🖕\ufe0f"]),
        ("a$$ ba$$", ["a$$"]),
        ("ass卖淫ass", ["ass", "卖淫", "ass"]),  # another script begins another word
        ("섹스 섹스를", ["섹스"]),
        ("हरामी हरामीपन", ["हरामी"]),
    ],
)
def test_words_with_spaces(make: Make, text: str, expected: list[str]) -> None:
    phrases = [
        "ass",
        "13.",
        "fat ass",
        "filth",
        "ibne",
        "straßenköter",
        "🖕",
        "a$$",
        "卖淫",
        "섹스",
        "हरामी",
    ]
    assert hits(make(phrases), text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("他们在街上卖淫被捕", ["卖淫"]),
        ("她的乳房很大", ["乳房"]),
        ("乳房癌的研究", ["乳房"]),
        ("具有重要性的事", []),  # 重要性 is a word: its last character is none
        ("男性和女性", []),
        ("ポルノを見る", ["ポルノ"]),
        ("ﾎﾟﾙﾉを見る", ["ﾎﾟﾙﾉ"]),  # half width, and the mark apart
        ("หนังโป๊เยอะมาก", ["หนังโป๊"]),
        ("น้ำตกสวยมาก", []),
        ("😀😀卖淫😀𠀀卖淫", ["卖淫", "卖淫"]),  # ICU counts UTF-16 units
    ],
)
def test_words_without_spaces(make: Make, text: str, expected: list[str]) -> None:
    phrases = ["卖淫", "乳房", "性", "ポルノ", "หนังโป๊", "ตก"]
    assert hits(make(phrases), text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tit", ["tit"]),
        ("a blue tit sang", []),
        ("a BLUE TIT, a tit", ["tit"]),
        ("true blue tits; blue tit-tit", ["tit"]),
        ("damn", []),  # exempt itself
        ("乳房癌和乳房", ["乳房"]),
        ("x ass ass", ["ass ass"]),
    ],
)
def test_exempt(make: Make, text: str, expected: list[str]) -> None:
    stage = make(["tit", "damn", "乳房", "ass", "ass ass"], ["blue tit", "Damn", "乳房癌", "x ass"])
    assert hits(stage, text) == expected


@pytest.mark.parametrize(
    ("phrases", "text", "expected"),
    [
        (["a b", "b c d", "c"], "a b c d", ["a b", "c"]),  # leftmost, though the other is longer
        (["a b", "a b c"], "a b c", ["a b c"]),
        (["a b", "a b c"], "a b cd", ["a b"]),  # the longer one is no whole word
        (["a a"], "a a a a a", ["a a", "a a"]),
        (["a", "A", "ａ"], "a", ["a"]),
    ],
)
def test_overlaps(make: Make, phrases: list[str], text: str, expected: list[str]) -> None:
    assert hits(make(phrases), text) == expected


@pytest.mark.parametrize(
    ("text", "match", "start"),
    [
        ("An ass.", "ass", 3),
        ("é ass", "ass", 3),
        ("中文。\n😀 ＡＳＳ！", "ＡＳＳ", 15),
        ("ⱥⱥ ﬁ İ ass", "ass", 14),  # folding changes lengths in bytes before the match
        ("ǰ\u0301ΐ\r\nass", "ass", 8),
    ],
)
def test_evidence(make: Make, text: str, match: str, start: int) -> None:
    stage = make(["ass"])
    judged = stage.judge({"hits": np.array([1.0]), "hits_per_1000_tokens": np.array([1.0])})
    [evidence] = stage.evidence(units(text), judged, {})
    assert evidence is not None
    assert (evidence.match, evidence.start) == (match, start)
    assert text.encode()[evidence.start : evidence.end] == match.encode()


def test_measures_and_rules(make: Make) -> None:
    batch = units("ass ass the the", "one two three", "", "🖕")
    stage = make(["ass", "🖕"])
    measures = stage.measure(batch)
    assert list(measures["hits"]) == [2.0, 0.0, 0.0, 1.0]
    assert list(measures["hits_per_1000_tokens"]) == [500.0, 0.0, 0.0, 1000.0]
    assert stage.judge(measures).tolist() == [1, 0, 0, 1]
    assert [rule.name for rule in stage.rules()] == ["hits"]
    both = make(["ass"], hits=Bounds(), per_1000_tokens=Bounds(None, 499.0))
    assert [(rule.name, rule.measure) for rule in both.rules()] == [
        ("per_1000_tokens", "hits_per_1000_tokens")
    ]
    assert both.judge(measures).tolist() == [1, 0, 0, 1]
    assert make(["ass"], hits=Bounds()).rules() == ()
    assert make(["ass"], hits=Bounds(1, None)).judge(measures).tolist() == [0, 1, 1, 0]


def test_except_is_the_name_in_pipeline_files(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("tit\n")
    (tmp_path / "ok.txt").write_text("blue tit\n")
    made, faults = build(Blocklist, {"phrases": "bad.txt", "except": "ok.txt"}, str(tmp_path))
    assert not faults and isinstance(made, Blocklist)
    assert hits(made, "blue tit, tit") == ["tit"]


PHRASES = ["a", "ab", "a b", "b a", "卖", "卖淫", "性", "ss", "fi", "i", "ガ", "ก", "$", "1", "2"]
EXEMPT = ["a b a", "卖淫性", "b"]
PIECES = list("ab A Ｂß\n\u0301ﬁİ卖淫性ｶﾞกำ$😀한½ｓ")


def slow_spans(text: str) -> list[tuple[int, int]]:
    """Every pair of places in the folded text, looked at one by one."""

    def folded(part: str) -> str:
        part = unicodedata.normalize("NFKC", part)
        one_by_one = (
            char.casefold() if len(char.casefold()) == 1 else char.lower() for char in part
        )
        part = "".join(one_by_one).replace("i\u0307", "i")
        return unicodedata.normalize("NFKC", part)

    def category(char: str) -> str:
        return unicodedata.category(char)[0]

    clusters: list[tuple[int, int]] = []
    for at, char in enumerate(text):
        if at and category(unicodedata.normalize("NFKD", char)[0]) == "M":
            clusters[-1] = (clusters[-1][0], at + 1)
        else:
            clusters.append((at, at + 1))
    chars = [(char, span) for span in clusters for char in folded(text[slice(*span)])]
    whole = "".join(char for char, _ in chars)

    def boundary(place: int) -> bool:
        if not 0 < place < len(chars):
            return True
        (left, left_span), (right, right_span) = chars[place - 1], chars[place]
        if category(left) not in "LMN" or category(right) not in "LMN":
            return True
        unspaced = [char in "卖淫性ガガกํา" for char in (left, right)]
        if not all(unspaced):
            return any(unspaced) and category(right) != "M"
        if left_span == right_span:
            return False
        line_start = text.rfind("\n", 0, right_span[0]) + 1
        line = text[line_start:].split("\n")[0]
        return right_span[0] - line_start in dictionary_breaks(line)

    places = range(len(chars) + 1)
    every = [(start, end) for start in places for end in places if start < end]
    covers = [span for span in every if whole[slice(*span)] in EXEMPT]
    found = [
        (start, end)
        for start, end in every
        if whole[start:end] in PHRASES
        and boundary(start)
        and boundary(end)
        and not any(cover[0] <= start and end <= cover[1] for cover in covers)
    ]
    taken: list[tuple[int, int]] = []
    spans = [(chars[start][1][0], chars[end - 1][1][1]) for start, end in found]
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not (taken and span[0] < taken[-1][1]):
            taken.append(span)
    return taken


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Blocklist:
    folder = tmp_path_factory.mktemp("lists")
    (folder / "phrases").write_text("\n".join(PHRASES), encoding="utf-8")
    (folder / "exempt").write_text("\n".join(EXEMPT), encoding="utf-8")
    return Blocklist(
        phrases=(LocalPath(str(folder / "phrases")),),
        exempt=(LocalPath(str(folder / "exempt")),),
        min_length=1,
    )


@settings(deadline=None, max_examples=1000)
@given(text=st.lists(st.sampled_from(PIECES), max_size=10).map("".join))
@example(text="İ a b\nß")
@example(text="卖淫 性ｶﾞ")
@example(text="$\u0301İ")
@example(text="½$½")
def test_against_the_reference(mixed: Blocklist, text: str) -> None:
    assert mixed.spans(text) == slow_spans(text)


@settings(deadline=None)
@given(text=st.text(max_size=60))
def test_any_text(mixed: Blocklist, text: str) -> None:
    previous = 0
    for start, end in mixed.spans(text):
        assert previous <= start < end <= len(text)
        previous = end


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "{path}: no phrase in it"),
        (b"\n  \n# only a comment\n#\n", "{path}: no phrase in it"),
        (b"ok\nbad \xff here\n", "{path}:2: not UTF-8: byte 0xff at place 5 of the line"),
        (b"\xed\xa0\x80", "{path}:1: not UTF-8: byte 0xed at place 1 of the line"),
    ],
)
def test_lists_at_fault(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(content)
    assert list(Blocklist(phrases=(LocalPath(str(path)),)).check()) == [
        ("phrases", message.format(path=path))
    ]


def test_every_fault_at_once(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"\xff\n\xfe\n")
    stage = Blocklist(
        phrases=(
            LocalPath(f"{tmp_path}/none-*.txt", "none-*.txt"),
            LocalPath(str(tmp_path), "lists/"),
            LocalPath(f"{tmp_path}/bad.txt"),
        ),
        exempt=(LocalPath(f"{tmp_path}/missing", "missing"),),
    )
    assert list(stage.check()) == [
        ("phrases", "no file matches none-*.txt"),
        ("phrases", "lists/ is a folder: write lists/* for its files"),
        ("phrases", f"{tmp_path}/bad.txt:1: not UTF-8: byte 0xff at place 1 of the line"),
        ("phrases", f"{tmp_path}/bad.txt:2: not UTF-8: byte 0xfe at place 1 of the line"),
        ("exempt", "no file matches missing"),
    ]
    with pytest.raises(ConfigError, match="no file matches"):
        stage.spans("text")
    assert list(Blocklist(phrases=()).check()) == [("phrases", "expected at least one file")]


def test_everything_exempt(make: Make) -> None:
    assert [where for where, _ in make(["Ass"], ["ass", "more"]).check()] == ["exempt"]
    assert list(make(["ass", "tit"], ["ass"]).check()) == []


def test_how_lists_are_read(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(
        "\ufeffass\r\n# comment\r\n#tag\r\n\r\n  two words \r\n".encode()
    )
    (tmp_path / "[odd] name").write_text("tit\n")
    stage = Blocklist(phrases=(LocalPath(f"{tmp_path}/[odd] name"), LocalPath(f"{tmp_path}/o*")))
    assert list(stage.check()) == []
    assert hits(stage, "ass #tag comment two words tit") == ["ass", "#tag", "two words", "tit"]
    assert [each.path for each in stage.resources()] == [
        f"{tmp_path}/[odd] name",
        f"{tmp_path}/one",
    ]


def test_a_long_list_takes_the_small_automaton(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "ass classy 卖淫 tit blue tit"
    phrases, exempt = ["ass", "卖淫", "tit"], ["blue tit"]
    expected = hits(make(phrases, exempt), text)
    monkeypatch.setattr(matching, "_DFA_BYTES", 0)
    assert hits(make(phrases, exempt), text) == expected == ["ass", "卖淫", "tit"]


def test_time_is_linear_in_hits(make: Make) -> None:
    text = "ass 卖淫。é " * 40_000
    stage = make(["ass", "卖淫"])
    assert len(stage.spans(text)) == 80_000
    [evidence] = stage.evidence(units(text), np.array([1], dtype=np.uint16), {})
    assert evidence is not None and evidence.match == "ass"


def test_parameters_travel_and_the_automaton_stays(make: Make) -> None:
    stage = make(["ass"])
    assert hits(stage, "ass") == ["ass"]
    again = pickle.loads(pickle.dumps(stage))
    assert again == stage
    assert set(vars(again)) == {"phrases", "exempt", "hits", "per_1000_tokens", "min_tokens"}
    assert hits(again, "ass") == ["ass"]
