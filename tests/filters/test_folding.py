"""Folding, and the way back: every folded character must know where it came from."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cleanpipe.filters.folding import FoldedLine, _begins_cluster, fold

HARD = st.lists(
    st.sampled_from(
        list("aIiKsz \n-…½Ａ①ﬁﬃßẞİıǰŉΐΣς")
        + list("\u0301\u0307\u0323\u0338\u0345\u3099\u309a\u00ad\u200d\ufe0f\u212a\u0130")
        + list("中豈㍿株かｶﾞﾟ한한ำຳำ가각ﷺﹰ😀𝐀\u2126\u1e9b\u0390\u1fb3\u09c7\u09be")
    ),
    max_size=14,
).map("".join)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Plain ASCII", "plain ascii"),
        ("ＦＵＬＬ　ｗｉｄｔｈ", "full width"),
        ("ﬁlth oﬃce", "filth office"),
        ("STRASSE Straße STRAẞE aß", "strasse straße straße aß"),
        ("İSTANBUL I\u0307", "istanbul i"),
        ("Iı", "iı"),
        ("ΣΑΣ σας", "σασ σασ"),
        ("e\u0301É", "éé"),
        ("ｶﾞ", "ガ"),
        ("\u212aelvin \u2126", "kelvin ω"),
        ("①½…", "11⁄2..."),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == folded


@settings(deadline=None, max_examples=1000)
@given(st.one_of(HARD, st.text(max_size=20)))
@example("\u0301a")
@example("i\u0323\u0307")
@example("ǰ\u0301")
def test_clusters_fold_as_the_whole_does(text: str) -> None:
    line = FoldedLine(text)
    assert line.folded == fold(text)
    assert fold(text).count("\n") == text.count("\n")
    assert [fold(each) for each in text.split("\n")] == fold(text).split("\n")
    covered = [False] * len(text)
    previous = 0
    for place in range(len(line.folded)):
        start, end = line.origin(place, place + 1)
        assert previous <= start < end <= len(text)
        assert line.folded[place] in fold(text[start:end])
        assert line.splits(place) == (place > 0 and start == line.origin(place - 1, place)[0])
        covered[start:end] = [True] * (end - start)
        previous = start
    assert all(covered)
    if line.folded:
        assert line.origin(0, len(line.folded)) == (0, len(text))


@pytest.mark.parametrize(
    ("text", "part", "origin"),
    [
        ("a ﬁlth", "filth", "ﬁlth"),
        ("oﬃce", "ffi", "ﬃ"),
        ("oﬃce", "f", "ﬃ"),  # a part of a ligature stands for all of it
        ("xİy", "i", "İ"),
        ("Straße", "ß", "ß"),
        ("Ｃａｆｅ\u0301！", "café", "Ｃａｆｅ\u0301"),
        ("ｶﾞｽ", "ガ", "ｶﾞ"),
        ("ดำ", "ด", "ดำ"),  # this vowel begins with a mark, which stays with its consonant
    ],
)
def test_origin(text: str, part: str, origin: str) -> None:
    line = FoldedLine(text)
    at = line.folded.index(part)
    start, end = line.origin(at, at + len(part))
    assert text[start:end] == origin


def test_clusters_hold_every_composition_of_unicode() -> None:
    joining = set()
    for point in range(sys.maxunicode + 1):
        decomposition = unicodedata.decomposition(chr(point))
        if decomposition and decomposition[0] != "<" and " " in decomposition:
            joining.add(chr(int(decomposition.split()[1], 16)))
    joining |= {chr(point) for point in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    assert [char for char in joining if _begins_cluster(char)] == []
    reordered = [
        chr(point) for point in range(sys.maxunicode + 1) if unicodedata.combining(chr(point))
    ]
    assert [char for char in reordered if _begins_cluster(char)] == []
