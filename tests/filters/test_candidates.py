"""Texts that are looked at more closely: no text with a match may be missing."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cleanpipe.filters import mojibake
from cleanpipe.filters.candidates import Folded
from cleanpipe.filters.matching import Matcher, candidates, hits, phrase_key
from cleanpipe.filters.phrases import Entry

PIECES = (
    *("\ufe0f", "ा", "्", "া", "ে", "…", "\u3099", "か"),
    *(
        "ass",
        "class",
        "Ass",
        "ＡＳＳ",
        "aß",
        "as\u0301s",
        "a\u00a0s",
        " ",
        "\n",
        ".",
        "s",
        "ﬁ",
        "½",
    ),
    *(
        "İ",
        "K",
        "é",
        "É",
        "e\u0301",
        "中国",
        "中國",
        "國",
        "，",
        "ｶﾞ",
        "각",
        "\u1100\u1161",
        "😀",
        "\0",
    ),
)
LISTS = [
    ("ass", "fi", "k", "1", "i"),
    ("中国", "é", "å", "가", "😀", ","),
    ("a s", "s.", "ガ", "\u0301"),
    (),
]
TEXTS = st.lists(st.lists(st.sampled_from(PIECES), max_size=5).map("".join), max_size=6)


def matcher(*words: str) -> Matcher:
    return Matcher([Entry("words", word) for word in words])


def column(texts: list[str]) -> pa.Array:
    """A slice, as a stage may get it."""
    return pa.array(["before", *texts, "ass"], pa.large_string()).slice(1, len(texts))


@given(TEXTS)
@example(["as", "s", "", "ass"])
@example(["国", "中", "中國", "é", "e", "\u0301"])
def test_no_match_is_missed(texts: list[str]) -> None:
    for words in LISTS:
        found = candidates(column(texts), [matcher(*words)]).tolist()
        with_match = [at for at, text in enumerate(texts) if hits(text, [matcher(*words)])]
        assert set(with_match) <= set(found)
        assert found == sorted(set(found))


@given(TEXTS | st.lists(st.text(max_size=8), max_size=6))
def test_folded_together_as_alone(texts: list[str]) -> None:
    found = Folded(column(texts))
    alone = [phrase_key(texts[row]).encode() for row in found.rows.tolist()]
    bounds = found.start.tolist()
    assert [found.data[a:b] for a, b in zip(bounds, bounds[1:], strict=False)] == alone
    assert sorted([*found.rows.tolist(), *found.others.tolist()]) == list(range(len(texts)))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["classes", "an ass", "as", "s", "ＡＳＳ", "passé"], [1, 4]),
        (["as", "s"], []),  # together they would have it
        (["ass\u0301", "ßass"], [0, 1]),  # beyond ASCII each text is looked at
        ([], []),
    ],
)
def test_few_are_left(texts: list[str], expected: list[int]) -> None:
    assert candidates(column(texts), [matcher("ass")]).tolist() == expected


def test_patterns_and_lines_look_at_every_text() -> None:
    for one in (
        Matcher([], patterns=[Entry("p", "a+")]),
        Matcher([], lines=[Entry("l", "a")]),
        Matcher([Entry("words", "a")], separated=True),
    ):
        assert candidates(column(["b", "c\u0301"]), [one]).tolist() == [0, 1]


@given(st.lists(st.text("aé\u00a1Ââ€™ßÖÐ\n中", max_size=6), max_size=6))
def test_no_broken_passage_is_missed(texts: list[str]) -> None:
    found = mojibake._suspect(column(texts)).tolist()
    broken = [at for at, text in enumerate(texts) if mojibake._share(text)]
    assert set(broken) <= set(found) <= set(range(len(texts)))
