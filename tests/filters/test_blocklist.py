"""``blocklist``: what counts as a hit, where it stood, and lists that are at fault."""

from __future__ import annotations

import pickle
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cleanpipe.bounds import Bounds
from cleanpipe.document import frozen
from cleanpipe.errors import ConfigError
from cleanpipe.filters import matching, phrases
from cleanpipe.filters.blocklist import Blocklist
from cleanpipe.filters.boundaries import dictionary_breaks
from cleanpipe.filters.folding import fold, simplified
from cleanpipe.parameters import LocalPath, build, shown
from cleanpipe.units import Units

from ..times import ratio
from .table import faults, made, table

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
    assert make(["ass"], hits=None).rules() == make(["ass"], hits=Bounds()).rules() == ()
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
            LocalPath(f"{tmp_path}/bad.txt"),
        ),
        exempt=(LocalPath(f"{tmp_path}/missing", "missing"),),
    )
    assert list(stage.check()) == [
        ("phrases", "no file matches none-*.txt"),
        ("phrases", f"{tmp_path}/bad.txt:1: not UTF-8: byte 0xff at place 1 of the line"),
        ("phrases", f"{tmp_path}/bad.txt:2: not UTF-8: byte 0xfe at place 1 of the line"),
        ("exempt", "no file matches missing"),
    ]
    with pytest.raises(ConfigError, match="no file matches"):
        stage.spans("text")


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
    assert set(vars(again)) == {field.name for field in fields(Blocklist)}
    assert hits(again, "ass") == ["ass"]


# Lists: where phrases come from


def built(folder: Path, parameters: dict[str, Any]) -> Blocklist:
    stage, faults = build(Blocklist, frozen(parameters), str(folder))
    assert not faults and isinstance(stage, Blocklist), faults
    return stage


def entry(stage: Blocklist, text: str, url: str | None = None) -> tuple[str, str | None] | None:
    """The first match and whose it is, where the text is dropped."""
    known = {"url": pa.array([url], pa.large_string())}
    batch = Units(pa.array([text], pa.large_string()), known)
    codes = stage.judge(stage.measure(batch))
    if not codes[0]:
        return None
    [shown] = stage.evidence(batch, codes, {})
    assert shown is not None and shown.start is not None
    assert text.encode()[shown.start : shown.end] == shown.match.encode()
    return shown.match, shown.entry


def test_a_hit_says_which_list_and_phrase(tmp_path: Path) -> None:
    for name, text in {
        "a/one": "Tit\nass",
        "a/.no": "x",
        "a/README.md": "y",
        "a/b/two": "ASS\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    stage = built(tmp_path, {"phrases": "a", "words": ["坏词"], "lists": ["ldnoobw.en"]})
    assert [resource.path for resource in stage.resources()][:2] == [
        f"{tmp_path}/a/b/two",
        f"{tmp_path}/a/one",
    ]
    assert entry(stage, "an aSs") == ("aSs", "a/b/two: ASS")  # of the first list that has it
    assert entry(stage, "TIT") == ("TIT", "a/one: Tit")
    assert entry(stage, "这是坏词。") == ("坏词", "words: 坏词")
    assert entry(stage, "what a SLUT, tit") == ("SLUT", "ldnoobw.en: slut")
    assert entry(stage, "x y") is None
    named = built(tmp_path, {"phrases": {"birds": ["a/one"], "more": "a"}})
    assert entry(named, "ass") == ("ass", "birds: ass")
    assert shown(named)["blocklist"]["phrases"] == {"birds": ["a/one"], "more": ["a"]}


@pytest.mark.parametrize(
    ("least", "expected"),
    [
        (None, ["x", "🖕", "卖淫", "ガガ", "ass"]),
        (1, ["x", "🖕", "性", "卖淫", "ガ", "ガガ", "ก", "ass"]),
        (2, ["卖淫", "ガガ", "ass"]),
        (3, ["ass"]),
    ],
)
def test_min_length(least: int | None, expected: list[str], tmp_path: Path) -> None:
    words = ["x", "🖕", "性", "卖淫", "ガ", "ガガ", "ก", "กำ", "ass"]
    stage = built(tmp_path, {"words": words, "min_length": least})
    assert hits(stage, "x 🖕 性 卖淫 ガ ガガ ก ass") == expected
    short = [word for word in words if word not in (*expected, "กำ")]
    assert any("too short" in sentence for sentence in stage.warnings()) == bool(short)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("賣淫 卖淫", ["賣淫", "卖淫"]),
        ("頭髮 头发 頭发", ["頭髮", "头发", "頭发"]),
        ("😀頭髮😀𠀀賣淫", ["頭髮", "賣淫"]),
        ("頭 髮", []),
        ("合理頭髮量", ["頭髮"]),
        ("漢字", []),
    ],
)
def test_traditional_and_simplified(text: str, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "ok").write_text("汉字\n", encoding="utf-8")
    parameters = {"words": ["卖淫", "頭髮", "漢字", "字"], "except": "ok"}
    assert hits(built(tmp_path, parameters), text) == expected


def test_the_table_of_characters() -> None:
    text = "".join(map(chr, range(0x3400, 0xA000)))
    once = simplified(text)
    assert len(once) == len(text) and simplified(once) == once == fold(once)
    assert sum(a != b for a, b in zip(text, once, strict=True)) > 3000
    assert simplified("乾幹干後髮發裡麵") == "干干干后发发里面"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("b.a.d b-a-d ｂ．ａ．ｄ B*A*D", ["b.a.d", "b-a-d", "ｂ．ａ．ｄ", "B*A*D"]),
        ("so b.a.d. (b_a_d), b🍌a🍌d", ["b.a.d", "b_a_d", "b🍌a🍌d"]),
        ("坏*词 坏词 坏\u200b词 壞·詞", ["坏*词", "坏词", "坏\u200b词", "壞·詞"]),
        ("ba\u200bd b\u00ada\u200b.\u200bd", ["ba\u200bd"]),
        ("b\u200b.a.\u200bd", ["b\u200b.a.\u200bd"]),
        ("e\u0301.\u00e9.é", ["e\u0301.\u00e9.é"]),
        # ordinary words are not joined
        ("a s s ociation a.s.s.ociation a s s", []),
        ("he'll bad-tempered", ["bad"]),
        ("ba-d b-ad b.a,d b.a. d", []),
        ("他很坏，词典。坏。词 坏、词 坏 词 坏\n词", []),
        ("b..a..d", []),
        ("1.3 1.3. 1-3", []),
        ("6.9.6", []),
        ("o.k o-k", []),
        ("www.b.a.d.com", []),
        ("as\u00adsociation", []),
        ("b.a.dly", []),
        ("好b.a.d👍", ["b.a.d"]),
        ("x b.a.d bad b.a.d", ["b.a.d", "bad", "b.a.d"]),
        ("b.a.d corp b.a.d", ["b.a.d"]),  # exempt as it stands
        ("n.i.c.e b.a.d", ["n.i.c.e b.a.d"]),
        ("n.i.c.e x", []),  # and when spelt
        ("", []),
        ("\u200b", []),
        ("é\nb.a.d\r\nb.a.d", ["b.a.d", "b.a.d"]),
        ("b.a.d שלום b.a.d", ["b.a.d", "b.a.d"]),
    ],
)
def test_separators(text: str, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "ok").write_text("b.a.d corp\nnice\n", encoding="utf-8")
    words = ["bad", "ass", "坏词", "hell", "13", "696", "ok", "ééé", "nice bad", "nice"]
    parameters = {"words": words, "except": "ok", "separators": True}
    stage = built(tmp_path, parameters)
    assert hits(stage, text) == expected
    plain = built(tmp_path, {**parameters, "separators": False})
    assert set(plain.spans(text)) <= set(stage.spans(text))


LEFT_OUT = str.maketrans("", "", ".*-\u200b😀")


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.sampled_from([*"bad.*-\n坏词，", "\u200b", "é", "😀"]), max_size=14).map("".join)
)
@example("坏*词b.a.d\nb-a*d\n😀坏\u200b词")
def test_separators_in_any_text(text: str) -> None:
    """A line that is surely spelled so is found, and nothing else is."""
    spans = Blocklist(words=("bad", "坏词"), separators=True).spans(text)
    assert all(text[slice(*span)].translate(LEFT_OUT) in ("bad", "坏词") for span in spans)
    for found in re.finditer("(?m)^b[.*-]a[.*-]d$", text):
        assert found.span() in spans


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("call 555-1234 now", [("555-1234", "patterns: [0-9]{3}-[0-9]{4}")]),
        ("é中 555-1234", [("555-1234", "patterns: [0-9]{3}-[0-9]{4}")]),
        ("Viagra viagra", [("Viagra", "more: (?i)viagra")] * 1 + [("viagra", "more: (?i)viagra")]),
        ("加微信abc12", [("加微信abc12", r"more: 加微信[a-z]+\d*")]),
        ("sex 555-1234", [("sex 555", "words: sex 555")]),  # leftmost, then longest
        ("sex", [("sex", "words: sex")]),  # in one place the first list
        ("ok-555-1234", []),  # exempt
        ("", []),
    ],
)
def test_patterns(text: str, expected: list[tuple[str, str]], tmp_path: Path) -> None:
    (tmp_path / "more").write_text("# c\n(?i)viagra\n加微信[a-z]+\\d*\n", encoding="utf-8")
    (tmp_path / "ok").write_text("ok-555-1234\n")
    stage = built(
        tmp_path,
        {
            "words": ["sex", "sex 555"],
            "patterns": ["[0-9]{3}-[0-9]{4}", "sex"],
            "pattern_files": "more",
            "except": "ok",
        },
    )
    found = matching.hits(text, stage._matchers)
    assert [(text[hit.start : hit.end], str(hit.entry)) for hit in found] == expected


TABLE = """{"host": "www.a.com", "lines": ["Share this page", "分享到微信"], "phrases": ["log in"]}

{"host": "B.com.", "lines": ["Other"]}
{"host": "www.a.com", "lines": ["More"]}
"""


@pytest.mark.parametrize(
    ("url", "text", "expected"),
    [
        ("http://www.a.com/x", "  SHARE this page\r", "SHARE this page"),
        ("http://www.a.com/x", "Share this page now", None),
        ("https://u:p@WWW.A.COM:80", "text\n分享到微信\n", "分享到微信"),
        ("https://www.a.com", "分享到 微信", None),
        ("http://www.a.com/x", "Please LOG IN here", "LOG IN"),
        ("http://www.a.com/x", "More", "More"),
        ("http://a.com/x", "Share this page", None),
        ("http://b.com", "Other", "Other"),
        ("http://b.com", "Share this page", None),
        (None, "Share this page", None),
        ("nothing", "Share this page", None),
        ("http://c.com", "everywhere bad", "bad"),
        (None, "", None),
    ],
)
def test_table(url: str | None, text: str, expected: str | None, tmp_path: Path) -> None:
    (tmp_path / "sites.jsonl").write_text(TABLE, encoding="utf-8")
    stage = built(tmp_path, {"table": "sites.jsonl", "words": ["bad"]})
    found = entry(stage, text, url)
    assert (found and found[0]) == expected
    assert stage.needs() == ("url",)


def test_table_by_domain(tmp_path: Path) -> None:
    (tmp_path / "t").write_text('{"domain": "a.co.uk", "lines": ["Share"]}\n')
    stage = built(tmp_path, {"table": "t", "by": "domain"})
    assert entry(stage, "Share", "http://x.y.a.co.uk/") == ("Share", "t: Share")
    assert entry(stage, "Share", "http://b.co.uk/") is None


def test_the_lists_that_ship(tmp_path: Path) -> None:
    shipped = phrases.shipped()
    assert sum(name.startswith("ldnoobw.") for name in shipped) == 28
    assert {"ldnoobw.zh", "boilerplate.en", "function_words.zh"} <= set(shipped)
    for name in shipped:
        path, exempt = phrases.shipped_files(name)
        read, faults = phrases.read(path)
        assert read and not faults
        if exempt is not None:
            barred, faults = phrases.read(exempt)
            assert not faults and len(set(barred)) == len(barred)
    zh = built(tmp_path, {"lists": ["ldnoobw.zh"], "min_length": 1})
    assert hits(zh, "成人票价，下午13点。重要性；她的处女作。吹簫") == []
    assert hits(zh, "性交，處女 妓女。贱人") == ["性交", "處女", "妓女", "贱人"]
    # Its exceptions are its own.
    own = built(tmp_path, {"lists": ["ldnoobw.zh"], "words": ["成人"]})
    assert entry(own, "成人") == ("成人", "words: 成人")


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, [": expected phrases, words, lists, patterns, pattern_files or a table"]),
        ({"words": [" "]}, ["words: expected phrases that are not empty"]),
        ({"words": ["a"], "min_length": 0}, ["min_length: expected at least 1, got 0"]),
        (
            {"words": ["性"]},
            [": every phrase of the lists is shorter: nothing would ever count"],
        ),
        ({"lists": ["ldnoobw.eng"]}, ['lists: no list called "ldnoobw.eng" ships; did you mean']),
        ({"patterns": ["a(b"]}, ['patterns: expected an RE2 pattern, got "a(b": missing )']),
        (
            {"patterns": ["x*"]},
            ['patterns: expected an RE2 pattern that needs something, got "x*"'],
        ),
        (
            {"pattern_files": "bad.re"},
            ['pattern_files: {0}/bad.re:3: expected an RE2 pattern, got "(?=x)": invalid perl'],
        ),
        ({"phrases": "empty"}, ["phrases: no list in the folder empty"]),
        ({"phrases": {"a": "none.txt"}}, ["phrases: no file matches none.txt"]),
        ({"phrases": {"a": 1}}, ["phrases.a: expected"]),
        ({"words": ["a"], "by": "site"}, ["by: expected 'host' or 'domain', got"]),
        ({"table": "missing"}, ["table: {0}/missing: cannot be read: No such file"]),
        (
            {"table": "bad.jsonl"},
            [
                "table: {0}/bad.jsonl:1: JSON is malformed",
                'table: {0}/bad.jsonl:2: expected {{"host": ..., "lines": [...]}}',
                'table: {0}/bad.jsonl:3: unknown key "line"; known: host, lines, phrases',
                'table: {0}/bad.jsonl:4: expected a list of texts as "lines"',
                "table: {0}/bad.jsonl:5: expected phrases or lines: this row has none",
                'table: {0}/bad.jsonl:6: expected a host, got "no host"',
            ],
        ),
        (
            {"table": "bad.jsonl", "by": "domain"},
            [
                "table: {0}/bad.jsonl:1: JSON",
                *['table: {0}/bad.jsonl:{n}: expected {{"domain"'] * 5,
            ],
        ),
        (
            {"table": "sub.jsonl", "by": "domain"},
            ["table: {0}/sub.jsonl:1: expected a domain, got"],
        ),
        ({"table": "void"}, ["table: {0}/void: no row in it"]),
    ],
)
def test_faults(parameters: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "LICENSE").write_text("x")
    (tmp_path / "bad.re").write_text("a\n\n(?=x)\n")
    (tmp_path / "void").write_text("\n")
    (tmp_path / "sub.jsonl").write_text('{"domain": "www.a.com", "lines": ["x"]}\n')
    (tmp_path / "bad.jsonl").write_text(
        '[}\n{"domain_": "a"}\n{"host": "a.com", "line": []}\n{"host": "a.com", "lines": "x"}\n'
        '{"host": "a.com", "lines": [" "]}\n{"host": "no host", "lines": ["x"]}\n'
    )
    found = faults(Blocklist, parameters, str(tmp_path))
    assert len(found) == len(expected)
    for number, (message, start) in enumerate(zip(found, expected, strict=True), start=1):
        assert message.startswith(start.format(tmp_path, n=number)), message


@pytest.mark.parametrize(
    "piece",
    [
        "b.a.",
        "b.",
        ".",
        "b\u200b",
        "\u200b",
        "坏*",
        "ab",
        "a b a ",
        "賣",
        "e\u0301.",
        "5",
        "ß",
        "b.a.d\n",
    ],
)
def test_time_is_linear(piece: str, tmp_path: Path) -> None:
    """Eight times the text takes no more than some eight times as long."""
    (tmp_path / "ok").write_text("a b a\n")
    parameters = {
        "words": ["bad", "坏词", "ab" * 20, "a", "a b", "bab"],
        "patterns": ["[0-9]+x", "(?i)(b+a+)+c"],
        "except": "ok",
        "separators": True,
    }
    stage = built(tmp_path, parameters)
    short, long = (partial(stage.spans, piece * (size // len(piece))) for size in (10_000, 80_000))
    assert ratio(long, short, 16, 0.05) < 16


WORDS = {"words": ["ass", "buy now", "坏词"], "patterns": ["[0-9]{3}-[0-9]{4}"]}
HITS = {**WORDS, "hits": [None, 1]}
RATE = {**WORDS, "per_1000_tokens": [None, 250]}
BOTH = {**RATE, "hits": [None, 0]}

test_bounds = table(
    Blocklist,
    [
        ("one ass", HITS, None),  # at the bound
        ("ass ass", HITS, "hits"),
        ("one ass of five tokens", WORDS, "hits"),
        ("one ass of five tokens", RATE, None),
        ("one ass of five tokens", {**RATE, "hits": None}, None),
        ("one ass of five tokens", BOTH, "hits"),
        ("ass one two three", RATE, None),  # 250: at the bound
        ("ass one two", RATE, "per_1000_tokens"),
        ("坏词好的", RATE, None),  # of four tokens
        ("坏词好", RATE, "per_1000_tokens"),
        ("ass ass", {**WORDS, "hits": {"below": 2}}, "hits"),
        ("ass", {**WORDS, "hits": [2, None]}, "hits"),
        ("", WORDS, None),
        ("ass", WORDS, "hits"),
        ("word", WORDS, None),
        ("ass" * 100, WORDS, None),
        ("坏词" * 3, WORDS, "hits"),
        ("🎉🎉🎉", WORDS, None),
        ("שלום ass עולם", WORDS, "hits"),
        ("buy\r\nnow", WORDS, None),
        ("x\r\nbuy now\r\n", WORDS, "hits"),
        ("tel. 555-1234", WORDS, "hits"),
        ("a" * 1_000_000 + " ass", WORDS, "hits"),
        ("一" * 300_000 + "。坏词", WORDS, "hits"),
    ],
)


def test_every_list_that_ships_is_in_the_reference() -> None:
    page = " ".join((Blocklist.__doc__ or "").split())
    lists = re.search(r"lists that ship, (.*?) Default: none\.", page)
    assert lists is not None
    for name in phrases.shipped():
        family, _, language = name.partition(".")
        said = re.search(rf"{family}[^)]*[ (]{language}[,);]", lists[1], re.IGNORECASE)
        assert said, name


@pytest.mark.parametrize(
    ("parameters", "fault"),
    [
        ({"phrases": ["坏词"]}, "phrases: no file matches 坏词; for phrases right here: words"),
        ({"words": "bad", "patterns": "x+"}, None),
        ({"lists": "ldnoobw.en"}, None),
        ({"lists": "mylists/bad"}, 'lists: no list called "mylists/bad" ships; '),
    ],
)
def test_what_was_meant(parameters: dict[str, Any], fault: str | None) -> None:
    found = faults(Blocklist, parameters)
    assert len(found) == (fault is not None)
    assert fault is None or found[0].startswith(fault)
    assert "lists" not in parameters or fault is None or found[0].endswith("of yours: phrases")


@pytest.mark.parametrize(("least", "expected"), [(None, [1, 0, 1]), (3, [0, 0, 1]), (1, [1, 1, 1])])
def test_min_length_of_a_table(least: int | None, expected: list[int], tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"
    path.write_text('{"host": "a.com", "phrases": ["ad", "坏", "advert"]}\n', "utf-8")
    stage = made(Blocklist, {"table": str(path), "min_length": least})
    texts = pa.array(["an ad", "坏", "an advert"], pa.large_string())
    units = Units(texts, {"url": pa.array(["http://a.com/"] * 3, pa.large_string())})
    np.testing.assert_array_equal(stage.measure(units)["hits"], expected)


@pytest.mark.parametrize(
    ("content", "line"), [("bad\nword\n".encode("utf-16-le"), 1), (b"bad\nwo\0rd\n", 2)]
)
def test_nul_in_a_list(content: bytes, line: int, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_bytes(content)
    _, found = phrases.read(str(tmp_path / "list.txt"))
    assert len(found) == 1
    assert f"list.txt:{line}: has a NUL byte: save the list as UTF-8" in found[0]


def test_ends_of_lines(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_bytes(b"a\rb\r\nc\nd")
    assert phrases.read(str(tmp_path / "list.txt")) == (["a", "b", "c", "d"], [])


def test_a_deep_row(tmp_path: Path) -> None:
    (tmp_path / "table.jsonl").write_text("[" * 100_000, "utf-8")
    _, found = phrases.read_table(str(tmp_path / "table.jsonl"), "host")
    assert len(found) == 1 and "table.jsonl:1: " in found[0]


def test_no_single_bytes_in_patterns() -> None:
    (fault,) = faults(Blocklist, {"patterns": [r"a\C"]})
    assert "without" in fault
    assert faults(Blocklist, {"patterns": [r"a\\C"]}) == []
