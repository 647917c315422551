"""The index of test items: every sentence of docs/contamination.md, and the reference."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cleanpipe import ConfigError
from cleanpipe.dedup import index_file
from cleanpipe.dedup.item_index import ItemIndex, threshold_of
from cleanpipe.dedup.item_parts import Tokens
from cleanpipe.dedup.items import Item, Part

from . import reference_contamination as reference
from .reference_contamination import Texts

Set = tuple[str, Tokens | Mapping[str, Tokens], Sequence[Texts]]

FOX = "The quick brown fox jumps over the lazy dog tonight"
"""Ten tokens, of a weight of 9: each "the" is a half."""


def words(first: int, end: int, letter: str = "w") -> str:
    return " ".join(f"{letter}{at}" for at in range(first, end))


def one(text: str, name: str = "q") -> list[Texts]:
    """A set of one item of one part."""
    return [[(name, text)]]


def built(*sets: Set, min_weight: float | None = None, reference: Sequence[str] = ()) -> ItemIndex:
    return ItemIndex.build(
        [(name, tokens, numbered(items)) for name, tokens, items in sets],
        min_weight,
        (lambda: [large([text]) for text in reference]) if reference else None,
    )


def numbered(items: Sequence[Texts]) -> list[Item]:
    return [Item(str(at), tuple(Part(*part) for part in of)) for at, of in enumerate(items)]


def large(texts: Sequence[str]) -> pa.Array:
    return pa.array(texts, pa.large_string())


Row = tuple[int, str, str, str, str, float]
"""Text, set, item, part, the passage, and the tokens of the part that it covers."""


def rows(
    index: ItemIndex,
    texts: Sequence[str],
    threshold: float | None = None,
    sets: Sequence[str] | None = None,
) -> list[Row]:
    found = index.find(large(texts), index.needed(threshold), sets)
    made = []
    for text, part, first, last, start, end, covered in zip(
        *(column.tolist() for column in found), strict=True
    ):
        assert 0 <= first <= last
        name, item, field = index.part(part)
        passage = texts[text].encode()[start:end].decode()
        made.append((text, name, str(item), field, passage, covered / 256))
    return made


def rows_of_the_reference(
    items: Sequence[Texts], texts: Sequence[str], threshold: float | None = None, **options: Any
) -> list[Row]:
    of = reference.TestSet(items, **options)
    return [
        (
            at,
            "s",
            str(of.parts[part].item),
            of.parts[part].name,
            text.encode()[passage.start : passage.end].decode(),
            passage.covered / 256,
        )
        for at, text in enumerate(texts)
        for part, passages in sorted(of.passages(text, threshold).items())
        for passage in passages
    ]


def both(
    items: Sequence[Texts],
    texts: Sequence[str],
    threshold: float | None = None,
    *,
    code: bool = False,
    min_weight: float | None = None,
    reference: Sequence[str] = (),
) -> list[Row]:
    """What is found, by the index and by the reference alike."""
    index = built(
        ("s", "code" if code else "words", items), min_weight=min_weight, reference=reference
    )
    found = rows(index, texts, threshold)
    assert found == rows_of_the_reference(
        items, texts, threshold, code=code, min_weight=min_weight, reference=reference
    )
    return found


# One item of one part: what is found of it, as (passage, tokens covered).

COVERAGE: Mapping[str, tuple[str, str, float | None, list[tuple[str, float]]]] = {
    "as it is": (FOX, f"x y {FOX} z", None, [(FOX, 9)]),
    "nothing": (FOX, words(0, 50), None, []),
    "an empty text": (FOX, "", None, []),
    "case, quotes, punctuation, lines, width": (
        FOX,
        "THE “quick” brown\nfox, jumps… over the *lazy* dog ｔｏｎｉｇｈｔ",
        1.0,
        [("THE “quick” brown\nfox, jumps… over the *lazy* dog ｔｏｎｉｇｈｔ", 9)],
    ),
    "Chinese": ("小红有十二张碟。", "看：小红有 12、十二张碟", None, [("小红有 12、十二张碟", 7)]),
    "tags in documents": (
        FOX,
        "The quick<b class='x y'> brown</b>&nbsp;fox jumps over the lazy dog tonight",
        1.0,
        [("The quick<b class='x y'> brown</b>&nbsp;fox jumps over the lazy dog tonight", 9)],
    ),
    "tags in items": (f"<p>{FOX.replace(' ', '&nbsp;')}</p>", FOX, 1.0, [(FOX, 9)]),
    # Lines of an item, and what begins them.
    "lines in another order": (
        "a b c d\ne f g h\ni j k",
        "i j k a b c d e f g h",
        1.0,
        [("i j k a b c d e f g h", 11)],
    ),
    "nothing reaches across a line break": (
        "a b c d\ne f g h",
        "a b c x d e f",
        0.3,
        [("a b c", 3)],
    ),
    "numbers and letters that begin lines": (
        "Which?\nA. a b c\n(b) d e f\n 3) g h i\n4、j k l\n[5] m n o\n（６）p q r\n7: s t u",
        "Which? a b c d e f g h i j k l m n o p q r s t u",
        1.0,
        [],
    ),
    "only those": (
        "A. a b c\n(b) d e f\n3) g h i",
        "a b c d e f g h i",
        1.0,
        [("a b c d e f g h i", 9)],
    ),
    "4、": ("4、甲乙丙丁\n5、戊己庚", "甲乙丙丁戊己庚", 1.0, [("甲乙丙丁戊己庚", 7)]),
    "a number that is none": ("3.5 b c d e\n12x f g h", "b c d e f g h", 1.0, []),
    # n, and what makes a candidate.
    "n is 5": (words(0, 12), "w0 w1 w2 w3 x w4 w5 w6 w7 x w8 w9 w10 w11", None, []),
    "n is 3 under 12 tokens": (
        words(0, 11),
        "w0 w1 w2 w3 x w4 w5 w6 w7 x w8 w9 w10",
        1.0,
        [("w0 w1 w2 w3 x w4 w5 w6 w7 x w8 w9 w10", 11)],
    ),
    "n is 3 where no line has 5": (
        f"{words(0, 4)}\n{words(4, 8)}\n{words(8, 12)}",
        f"{words(8, 12)} {words(4, 8)} {words(0, 4)}",
        1.0,
        [(f"{words(8, 12)} {words(4, 8)} {words(0, 4)}", 12)],
    ),
    "across lines where none has 3": (
        "a b\nc d\ne f",
        "a b c x d e f",
        0.6,
        [("a b c x d e f", 4)],
    ),
    "across lines only there": ("a b\nc d\ne f", "a b e f c d", 0.6, []),
    "n is no more than L": ("a b\nc d", "x a b c d", 1.0, [("a b c d", 4)]),
    "one in ten": (words(0, 34), f"x {words(9, 16)} x", 0.1, [(words(9, 16), 7)]),
    "under one in ten": (words(0, 34), f"x {words(9, 15)} x", 0.1, []),
    "one in ten, rounded down": (words(0, 43), f"x {words(9, 16)} x", 0.1, [(words(9, 16), 7)]),
    "repeated finds count": (
        words(0, 34),
        f"{words(3, 8)} x {words(3, 8)} {words(3, 8)}",
        0.1,
        [(words(3, 8), 5)] * 3,
    ),
    # Coverage.
    "a replaced word costs itself alone": (
        words(0, 10),
        words(0, 10).replace("w4", "x"),
        None,
        [(words(0, 10).replace("w4", "x"), 9)],
    ),
    "a neighbour between two of them": (
        words(0, 12),
        "w0 w1 w2 w3 w4 x w6 x w8 w9 w10 w11",
        None,
        [("w0 w1 w2 w3 w4 x w6 x w8 w9 w10 w11", 9)],
    ),
    "a line of two is a gram": (
        "a b c d e\nf g\nh",
        "h x f g x a b c d e",
        1.0,
        [("h x f g x a b c d e", 8)],
    ),
    "all its tokens in a row": (
        "a b c d e\nf g\nh",
        "f x g x a b c d e h",
        0.6,
        [("a b c d e h", 6)],
    ),
    "of 36 tokens": (
        words(0, 10),
        f"{words(0, 5)} {words(0, 26, 'x')} {words(5, 10)}",
        1.0,
        [(f"{words(0, 5)} {words(0, 26, 'x')} {words(5, 10)}", 10)],
    ),
    "of 37 tokens": (words(0, 10), f"{words(0, 5)} {words(0, 27, 'x')} {words(5, 10)}", 1.0, []),
    # Thresholds.
    "6 of 8": (words(0, 8), f"{words(0, 6)} x", None, [(words(0, 6), 6)]),
    "5 of 8": (words(0, 8), f"{words(0, 5)} x", None, []),
    "16 of 32": (words(0, 32), f"x {words(9, 25)} x", None, [(words(9, 25), 16)]),
    "15 of 32": (words(0, 32), f"x {words(9, 24)} x", None, []),
    "a share for all, just reached": (words(0, 10), f"{words(0, 7)} x", 0.7, [(words(0, 7), 7)]),
    "a share for all, missed": (words(0, 10), f"{words(0, 7)} x", 0.71, []),
    "a share that is no binary fraction": (words(0, 100), words(0, 55), 0.55, [(words(0, 55), 55)]),
    # Windows.
    "twice": (words(0, 10), f"{words(0, 10)} {words(0, 10)}", None, [(words(0, 10), 10)] * 2),
    "the best, not the first that is enough": (
        words(0, 10),
        f"{words(0, 8)} {words(0, 9, 'x')} {words(0, 10)}",
        0.7,
        [(words(0, 10), 10)],
    ),
    "the first of equals": (
        words(0, 10),
        f"{words(0, 9)} {words(0, 100, 'x')} {words(1, 10)}",
        0.9,
        [(words(0, 9), 9), (words(1, 10), 9)],
    ),
    "without what adds nothing on the left": (
        words(0, 10),
        f"w0 w1 w2 {words(0, 9, 'x')} {words(0, 10)}",
        0.7,
        [(words(0, 10), 10)],
    ),
    "what repeats within 8 tokens": (
        words(0, 10),
        f"w0 w1 w2 {words(0, 8, 'x')} {words(0, 10)} {words(0, 8, 'x')} w3 w4 w5",
        0.7,
        [(f"w0 w1 w2 {words(0, 8, 'x')} {words(0, 10)} {words(0, 8, 'x')} w3 w4 w5", 10)],
    ),
    "what repeats at the end of an item": (
        "a b c d x y z\ne f g x y z\nh x y z",
        "a b c d x y z A. e f g x y z B. h x y z. end",
        1.0,
        [("a b c d x y z A. e f g x y z B. h x y z", 11 - 3 / 256)],
    ),
    # Edges: tokens in their places that no gram has.
    "widened behind a replaced word": (
        words(0, 20),
        f"y w0 w1 x {words(3, 18)} x w19 y",
        None,
        [(f"w0 w1 x {words(3, 18)} x w19", 15)],
    ),
    "widened over grams that a replaced word hides": (
        f"{words(0, 3)}\n{words(3, 20)}",
        f"y w1 w2 {words(3, 20)}",
        None,
        [(f"w1 w2 {words(3, 20)}", 17)],
    ),
}


@pytest.mark.parametrize("case", COVERAGE)
def test_coverage(case: str) -> None:
    item, text, threshold, expected = COVERAGE[case]
    found = both(one(item), [text], threshold)
    assert [(passage, covered) for *_, passage, covered in found] == expected


def test_a_program_is_one_line_as_it_is() -> None:
    program = "a = b\nc < d\n1. e"
    text = "# a = b c < d 1. e"
    assert [row[4:] for row in both(one(program), [text], 1.0, code=True)] == [(text[2:], 9)]
    # Numbers stay, operators and tags are tokens, case is as in words; n is 8 alone.
    for other in ("a = b c < d e", "a = b c > d 1. e", "A = b c < d 1 e"):
        assert both(one(program), [f"# {other}"], 1.0, code=True) == []
    assert both(one("<b> x </b> y"), ["x y"], 0.2, code=True, min_weight=1.0) == []
    program, half = words(0, 16), f"{words(0, 7)} x {words(7, 14)} x"
    assert both(one(program), [half], 0.1, code=True) == []
    assert len(both(one(program), [half.replace(" x", "")], 0.1, code=True)) == 1
    # Too short is what weighs less than 8.
    assert both(one(words(0, 7)), [words(0, 7)], code=True) == []
    assert len(both(one(words(0, 8)), [words(0, 8)], code=True)) == 1


def test_weights() -> None:
    """What most items have says little; 31 items, 1 / 16 of which is just under 2."""
    items: list[Texts] = [[("q", f"Question {words(5 * at, 5 * at + 5)} both")] for at in range(31)]
    items[0] = [("q", f"Question {words(0, 5)} rare")]
    items[1] = [("q", f"Question {words(5, 10)} rare")]
    found = both(items, [f"question {words(0, 5)} rare x", "question w5 w6 w7 w8 w9 rare"])
    # log2(32 / 31) / 4 is 2.9 of 256, log2(32 / 2) / 4 is 1.
    assert [row[2:] for row in found] == [
        ("0", "q", f"question {words(0, 5)} rare", 6 + 3 / 256),
        ("1", "q", "question w5 w6 w7 w8 w9 rare", 6 + 3 / 256),
    ]
    # In any part: the same token in the answer of another item is the item's too.
    several: list[Texts] = [[("q", f"{words(0, 6)} zoo"), ("a", "zoo of it")], [("q", "zoo")]]
    [row] = both(several, [f"{words(0, 6)} zoo"])
    # Of two items, log2(3 / 2) / log2(3).
    assert row[5] == 6 + 94 / 256


def test_a_token_shares_its_weight_among_its_places() -> None:
    [row] = both(one("a b a c a d e f"), ["a b a c a d e f"], 1.0)
    assert row[5] == 5 + 3 * 85 / 256
    # In each part by itself.
    [first, second] = both([[("q", "a b c d"), ("r", "a e f g")]], ["a b c d. a e f g"], 1.0)
    assert (first[5], second[5]) == (4, 4)


def entry(index: ItemIndex) -> tuple[int, tuple[str, ...]]:
    [of] = index.sets
    return of.items, of.too_short


def test_too_short() -> None:
    items: list[Texts] = [
        [("q", "a b c")],
        [("q", "d e"), ("a", "f")],
        [],
        [("q", "h i"), ("a", "j k")],
        [("q", "l m n o"), ("a", "p")],
        [("q", "?!?")],
    ]
    text = "a b c d e f h i j k l m n o p"
    assert [row[2:] for row in both(items, [text])] == [
        ("3", "q+a", "h i j k", 4),
        ("4", "q", "l m n o", 4),
    ]
    assert entry(built(("s", "words", items))) == (6, ("0", "1", "2", "5"))
    assert [row[2:] for row in both(items, [text], min_weight=3.0)] == [
        ("0", "q", "a b c", 3),
        ("1", "q+a", "d e f", 3),
        ("3", "q+a", "h i j k", 4),
        ("4", "q", "l m n o", 4),
    ]
    # They are judged as one part: closely.
    assert both(items, [f"h i {words(0, 40)} j k"]) == []


def test_a_light_part_among_heavy_ones_stays_by_itself() -> None:
    items: list[Texts] = [[("q", words(0, 6)), ("x", "a b"), ("r", words(6, 12)), ("y", "c d")]]
    index = built(("s", "words", items))
    assert [(index.part(at)[2], index.judged(at)) for at in range(3)] == [
        ("q", True),
        ("x+y", True),
        ("r", True),
    ]
    single = built(("s", "words", [items[0][:3]]))
    assert [single.judged(at) for at in range(3)] == [True, False, True]


def test_ngrams_that_many_parts_have() -> None:
    """20 of 400 items begin alike."""
    alike = words(0, 8)
    items: list[Texts] = [
        [("q", f"{alike} {words(8 * at, 8 * at + 8, 'v')}" if at < 20 else f"x{at} y{at} z{at} o")]
        for at in range(400)
    ]
    assert both(items, [alike], 0.5) == []
    # Where there are no others, the four rarest count: the lowest hashes of equals.
    items[0] = [("q", alike)]
    assert [row[2:5] for row in both(items, [alike])] == [("0", "q", alike)]
    sixteen = [*items[1:17], *items[20:]]
    assert len(both(sixteen, [alike], 0.5)) == 16


def test_the_reference_takes_common_phrases() -> None:
    item, often = (
        "once upon a time there was a fox",
        ("Once upon a time it <b>was", "once upon a time"),
    )
    # "once" and "upon" are only in grams that are common; "a" and "time" in others too.
    [row] = both(one(item), [item], reference=often)
    assert row[4:] == (item, 5)
    [row] = both(one(item), [item], reference=often[:1])
    assert row[5] == 7
    # Twice in one text is in one text.
    [row] = both(one(item), [item], reference=["once upon a time. " * 2])
    assert row[5] == 7
    # A line of two tokens is a gram, and all that is common weighs nothing.
    index = built(
        ("s", "words", one("good day\nto you")), reference=["good day", "a good day to you"]
    )
    assert entry(index) == (1, ("0",))
    assert index.sets[0].reference == 2


@pytest.mark.parametrize(
    ("weight", "threshold"), [(1, 1.0), (4, 0.774), (8, 0.65), (32, 0.5), (128, 0.425)]
)
def test_thresholds(weight: int, threshold: float) -> None:
    assert threshold_of(256 * weight) == pytest.approx(threshold, abs=5e-4)
    index = built(("s", "words", one(words(0, weight))), min_weight=1.0)
    assert index.threshold(0, None) == threshold_of(256 * weight)
    assert index.threshold(0, 0.25) == 0.25


def test_a_number_behind_an_indentation() -> None:
    assert both(one(" 4、甲乙丙丁\n 5、戊己庚"), ["甲乙丙丁戊己庚"], 1.0)


@pytest.mark.parametrize("items", [[], [[]]])
def test_a_set_without_a_text(items: list[Texts]) -> None:
    assert both(items, ["a b c d"]) == []


def test_prose_between_angle_brackets() -> None:
    assert both(one(FOX), [f"Boot method: <How did you boot? {FOX} USB stick?>"])


# ---- any sets, any texts ----

VOCABULARY = [*"abcdef", "the", "of", "水", "火", "<b>", "&amp;", ".", "=="]
NAMES = ("q", "a", "c")


@st.composite
def a_text(draw: st.DrawFn, most: int) -> str:
    lines = draw(
        st.lists(st.lists(st.sampled_from(VOCABULARY), min_size=1), min_size=1, max_size=4)
    )
    heads = draw(st.lists(st.sampled_from(["", "", "A. ", "(2) ", "3、"]), min_size=4, max_size=4))
    return "\n".join(head + " ".join(line[:most]) for head, line in zip(heads, lines, strict=False))


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Texts], list[str], dict[str, Any]]:
    """Items, and documents of their texts, whole, changed, and among others."""
    size = st.sampled_from([3, 6, 12])
    texts = st.lists(size.flatmap(a_text), min_size=1, max_size=3)
    items: list[Texts] = [
        list(zip(NAMES, of, strict=False)) for of in draw(st.lists(texts, min_size=1, max_size=5))
    ]
    known = [text for item in items for _, text in item]
    piece = st.sampled_from(known) | a_text(8) | st.just(words(0, 30))
    documents = draw(st.lists(st.lists(piece, max_size=6).map(" ".join), min_size=1, max_size=3))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(documents) - 1))
        tokens = documents[at].split(" ")
        tokens[draw(st.integers(0, len(tokens) - 1))] = draw(st.sampled_from([*VOCABULARY, "new"]))
        documents[at] = " ".join(tokens)
    options: dict[str, Any] = {
        "code": draw(st.booleans()),
        "min_weight": draw(st.sampled_from([1.0, 2.5, None])),
        "reference": draw(st.sampled_from([[], ["a b c", "b c a b c", "the of"]])),
    }
    return items, documents, options


SLOW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@SLOW
@given(cases(), st.sampled_from([None, 0.4, 1.0]))
def test_it_equals_the_reference(
    case: tuple[list[Texts], list[str], dict[str, Any]], threshold: float | None
) -> None:
    items, texts, options = case
    both(items, texts, threshold, **options)


@SLOW
@given(st.lists(cases(), min_size=1, max_size=3), st.data())
def test_sets_do_not_know_of_each_other(
    given_sets: list[tuple[list[Texts], list[str], dict[str, Any]]], data: st.DataObject
) -> None:
    sets: list[Set] = [
        (f"s{at}", "code" if options["code"] else "words", items)
        for at, (items, _, options) in enumerate(given_sets)
    ]
    texts = [text for _, of, _ in given_sets for text in of]
    every = built(*sets)
    alone = [built(of) for of in sets]
    together = [row for index in alone for row in rows(index, texts)]
    assert rows(every, texts) == sorted(together, key=lambda row: row[0])
    cut = data.draw(st.integers(0, len(sets)))
    merged = ItemIndex.merge([built(*sets[:cut]), built(*sets[cut:])])
    assert merged.fingerprint == every.fingerprint
    assert [of.fingerprint for of in alone] == [
        built(*sets[at : at + 1]).fingerprint for at in range(len(sets))
    ]
    chosen = data.draw(st.lists(st.sampled_from([name for name, *_ in sets]), unique=True))
    some = [row for row in rows(every, texts) if row[1] in chosen]
    assert rows(every, texts, sets=chosen) == some
    for at, text in enumerate(texts[:2]):
        only = [(0, *row[1:]) for row in rows(every, texts) if row[0] == at]
        assert rows(every, [text]) == only


# ---- files ----

SETS: list[Set] = [
    ("fox", "words", [[("q", FOX), ("a", "no")], [("q", "a b")]]),
    ("sums", "code", one("x = [a, b]\nreturn sum(x)")),
    ("数", "words", one("小红有十二张碟")),
]
TEXT = f"{FOX}: x = [a, b]\nreturn sum(x)小红有十二张碟"


def test_what_it_knows() -> None:
    index = built(*SETS, min_weight=3.0, reference=["a b", "c"])
    assert [vars(of) for of in index.sets] == [
        {
            "name": "fox",
            "tokens": ("words",),
            "min_weight": (3.0,),
            "reference": 2,
            "items": 2,
            "too_short": ("1",),
        },
        {
            "name": "sums",
            "tokens": ("code",),
            "min_weight": (3.0,),
            "reference": 2,
            "items": 1,
            "too_short": (),
        },
        {
            "name": "数",
            "tokens": ("words",),
            "min_weight": (3.0,),
            "reference": 2,
            "items": 1,
            "too_short": (),
        },
    ]
    assert index.item_text("fox", "0") == f"{FOX}\nno"
    assert index.item_text("数", "0") == "小红有十二张碟"
    assert index.item_text("fox", "7") is None
    assert index.item_text("cat", "0") is None
    assert (index.part(1), index.label(1), index.is_code(1)) == (("fox", 0, "a"), "0", False)
    assert index.parts_beside(1) == range(2)
    assert len(index.tokens(0)) == 10


def test_the_first_of_two_items_of_one_id() -> None:
    items = [Item("x", (Part("q", "first"),)), Item("x", (Part("q", "second"),))]
    assert ItemIndex.build([("s", "words", items)]).item_text("s", "x") == "first"


def test_files(tmp_path: Path) -> None:
    index, path = built(*SETS), tmp_path / "index"
    path.write_bytes(b"old")
    index.save(path)
    opened = ItemIndex.open(path)
    assert (opened.fingerprint, opened.sets) == (index.fingerprint, index.sets)
    assert opened.nbytes == index.nbytes == path.stat().st_size
    assert rows(opened, [TEXT]) == rows(index, [TEXT]) != []
    assert [row[1] for row in rows(opened, [TEXT])] == ["fox", "sums", "数"]
    again = ItemIndex.merge([opened])
    assert again.fingerprint == index.fingerprint
    assert [of.name for of in tmp_path.iterdir()] == ["index"]


def test_the_fingerprint_is_of_all_there_is() -> None:
    item = "a b c d e"
    indexes = [
        built(("s", "words", one(item))),
        built(("t", "words", one(item))),
        built(("s", "code", one(item))),
        built(("s", "words", one(f"{item} f"))),
        built(("s", "words", one(item, "other"))),
        built(("s", "words", one(item.upper()))),  # people read the text
        built(("s", "words", one(item)), min_weight=3.0),
        built(("s", "words", one(item)), reference=["x"]),
        ItemIndex.build([("s", "words", [Item("7", (Part("q", item),))])]),
    ]
    assert len({index.fingerprint for index in indexes}) == len(indexes)


def test_no_sets() -> None:
    none = ItemIndex.merge([])
    assert none.sets == ()
    assert rows(none, ["a b c d"]) == []


def test_two_sets_of_one_name() -> None:
    with pytest.raises(ConfigError, match='two test sets are called "fox": rename one'):
        ItemIndex.merge([built(*SETS), built(SETS[0])])
    with pytest.raises(ConfigError, match='two test sets are called "fox": rename one'):
        built(SETS[0], SETS[0])


REBUILD = "`?cleanpipe index build"


def test_faults_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "index"
    built(SETS[2]).save(path)
    data = path.read_bytes()
    cuts = [1, 8, 40, 64, 65, len(data) // 2, len(data) - 1]
    for damaged, message in [
        (b"", "an empty file"),
        (b"something else", "no index of test sets"),
        *((data[:size], "no index of" if size < 8 else "a damaged index") for size in cuts),
        *(
            (bytes([*data[:at], data[at] ^ 1, *data[at + 1 :]]), "")
            for at in (0, 16, 31, *range(64, len(data), 97))
        ),
        (data + b"x", "a damaged index"),
    ]:
        path.write_bytes(damaged)
        with pytest.raises(ConfigError, match=f"{re.escape(str(path))}: .*{message}.*{REBUILD}"):
            ItemIndex.open(path)
    path.write_bytes(data)
    monkeypatch.setattr(index_file, "FORMAT", index_file.FORMAT + 1)
    with pytest.raises(ConfigError, match=f"format 1, .*here format 2, .*{REBUILD}"):
        ItemIndex.open(path)


@pytest.mark.parametrize(
    ("name", "message"),
    [("none", "No such file or directory"), ("", "Is a directory")],
)
def test_no_file(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(
        ConfigError, match=f"{re.escape(str(tmp_path / name))}: {message}; expected"
    ):
        ItemIndex.open(tmp_path / name)


def test_empty_texts_and_chunks() -> None:
    index = built(*SETS)
    assert rows(index, []) == []
    texts = ["", TEXT, "", TEXT]
    sliced = index.find(large(["x", *texts])[1:], index.needed(None))
    assert sliced.text.tolist() == [1, 1, 1, 3, 3, 3]
    assert all(a <= b for a, b in pairwise(sliced.text.tolist()))
