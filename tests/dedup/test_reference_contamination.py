"""The reference itself, by hand: weights, coverage, windows."""

from __future__ import annotations

from fractions import Fraction

import pytest

from .reference_contamination import Passage, folded, passages, weights, worths

FOX = "The quick brown fox jumps over the lazy dog tonight"
HALF = Fraction(1, 2)


def found(
    text: str,
    item: str = FOX,
    threshold: Fraction = HALF,
    least_seeds: int = 1,
    n: int = 5,
    reference: tuple[str, ...] = (),
) -> list[tuple[int, int, int]]:
    """(first, last, tokens covered) of the passages of the one item that there is."""
    of = passages(
        [[("question", item)]],
        [text],
        threshold=lambda length: threshold,
        least_seeds=lambda length: least_seeds,
        n=n,
        reference=reference,
    )
    return [(one.first, one.last, one.covered // 256) for one in of]


def words(number: int) -> str:
    return " ".join(f"w{at}" for at in range(number))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FOX, [(0, 9, 10)]),
        (f"{words(3)} {FOX} {words(2)}", [(3, 12, 10)]),
        ("THE “quick” brown\nfox, jumps… over the lazy dog ｔｏｎｉｇｈｔ", [(0, 9, 10)]),
        ("", []),
        (words(50), []),
        # Five tokens in a row are half of it, four are no seed.
        ("quick brown fox jumps over", [(0, 4, 5)]),
        ("quick brown fox jumps", []),
        # A word replaced costs itself alone; two with one or two words between cost those too.
        ("The quick brown cat jumps over the lazy dog tonight", [(0, 9, 9)]),
        ("The quick brown fox jumps over a lazy cat tonight", [(0, 5, 6)]),
        # In another order, as shuffled choices are; "fox jumps over" is not there.
        ("jumps over the lazy dog tonight the quick brown fox", [(0, 9, 10)]),
        # Twice is two passages.
        (f"{FOX} {FOX}", [(0, 9, 10), (10, 19, 10)]),
        (f"{FOX} {words(400)} {FOX}", [(0, 9, 10), (410, 419, 10)]),
        # Its halves within 2 * 10 + 16 tokens, one token more, and without a 3-gram within them.
        (f"the quick brown fox jumps {words(26)} over the lazy dog tonight", [(0, 35, 10)]),
        (f"the quick brown fox jumps {words(27)} over the lazy dog tonight", [(0, 35, 9)]),
        (
            f"the quick brown fox jumps {words(30)} over the lazy dog tonight",
            [(0, 4, 5), (35, 39, 5)],
        ),
        # A window that is enough grows by what it lacks, and is cut of what adds nothing.
        (f"the quick brown {words(4)} {FOX}", [(7, 16, 10)]),
    ],
)
def test_coverage(text: str, expected: list[tuple[int, int, int]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [
        (Fraction(9, 10), [(0, 9, 9)]),
        (Fraction(9, 10) + Fraction(1, 10000), []),
        (Fraction(1), []),
    ],
)
def test_a_threshold_that_is_just_reached(
    threshold: Fraction, expected: list[tuple[int, int, int]]
) -> None:
    text = "The quick brown cat jumps over the lazy dog tonight"
    assert found(text, threshold=threshold) == expected


def test_the_threshold_is_told_the_effective_length() -> None:
    told: list[float] = []
    items = [[("q", f"common{at} {'often' if at < 2 else 'seldom'}")] for at in range(3)]

    def threshold(length: float) -> Fraction:
        told.append(length)
        return Fraction(1)

    passages(items, [""], threshold=threshold, least_seeds=lambda length: 1)
    # log2(4 / 2) / log2(4) is a half; log2(4 / 1) / log2(4) is 1.
    assert told == [1.5, 1.5, 2.0]


def test_least_seeds() -> None:
    six = "quick brown fox jumps over the"
    assert found(six, least_seeds=2) == [(0, 5, 6)]
    assert found(six, least_seeds=3) == []
    # Of two regions each needs as many by itself.
    far = f"quick brown fox jumps over {words(200)} fox jumps over the lazy"
    assert found(far, least_seeds=1) == [(0, 4, 5), (205, 209, 5)]
    assert found(far, least_seeds=2) == []


@pytest.mark.parametrize(
    ("item", "text", "expected"),
    [
        ("zebra", "a zebra here", [(1, 1, 1)]),
        ("zebra crossing", "a zebra crossing, no zebra", [(1, 2, 2)]),
        ("zebra crossing", "zebra and crossing", []),
        ("three blind mice", "see three blind mice run", [(1, 3, 3)]),
        ("four very blind mice", "see four very blind mice", [(1, 4, 4)]),
        ("四只盲鼠", "看，四只盲鼠！", [(1, 4, 4)]),
    ],
)
def test_parts_shorter_than_n(item: str, text: str, expected: list[tuple[int, int, int]]) -> None:
    assert found(text, item) == expected


def test_weights() -> None:
    items = [[["question", f"only{at}"], ["a", "a"]] for at in range(31)]
    of = weights([*items, [["question"]]])
    # 32 items: log2(33 / 32) / 4 and log2(33 / 31) / 4 of 256, rounded.
    assert (of["question"], of["a"], of["only3"]) == (3, 6, 256)
    # Of one item all tokens are its own.
    assert weights([[["x"]]]) == {"x": 256}
    # Of one item in 16 or fewer, all of it: 31 items, 32 / 2 is 2 to the 4th.
    assert weights([[["rare"]], [["rare"]], *([[f"o{at}"]] for at in range(29))])["rare"] == 256


def test_the_reference_takes_common_phrases() -> None:
    part = folded("once upon a time there was a fox")
    weight = dict.fromkeys(part, 256)
    common: set[tuple[str, ...]] = {("once", "upon", "a"), ("upon", "a", "time")}
    assert worths(part, weight, common) == [0, 0, *[256] * 6]
    twice = ("Once upon a time it rained.", "And once upon a time it snowed.")
    item = "once upon a time there was a fox"
    # "a" and "time" are in 3-grams that are no phrase; "once" and "upon" only in such as are.
    assert found(item, item, reference=twice) == [(2, 7, 6)]
    assert found(item, item, reference=twice[:1]) == [(0, 7, 8)]


def test_several_items_and_parts() -> None:
    items = [
        [("question", "how many quick foxes are there"), ("answer", "there are seven red ones")],
        [("question", "why does the lazy dog sleep"), ("answer", "")],
    ]
    text = "Why does the lazy dog sleep? There are seven red ones."
    of = passages(
        items,
        ["", text],
        threshold=lambda length: Fraction(9, 10),
        least_seeds=lambda length: 1,
    )
    assert [(one.document, one.item, one.part, one.first, one.last) for one in of] == [
        (1, 0, "answer", 6, 10),
        (1, 1, "question", 0, 5),
    ]
    assert all(one.score == 1.0 for one in of)
    assert isinstance(of[0], Passage)
