"""The passage kernel: cases by hand, its reference, texts that repeat, damaged arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cleanpipe import _native

from ..times import within
from . import reference_passages as reference
from . import reference_tokens
from .reference_passages import Part, Passage
from .test_ngrams import gram
from .test_tokens import SANITIZED, strings

Found = tuple[int, int, int, int, int, int]  # candidate, first, last, start, end, covered
SETTINGS = settings(max_examples=200, deadline=None)


class Candidate(NamedTuple):
    document: int
    part: int
    seeds: Sequence[int]


def part_of(text: str, need: int, span: int | None = None, weight: int = 1) -> Part:
    """All tokens weigh the same, and the span is that of docs/contamination.md."""
    lines = [[token.hash for token in reference_tokens.tokens(line)] for line in text.split("\n")]
    tokens = [token for line in lines for token in line]
    begins = [sum(map(len, lines[:number])) for number in range(1, len(lines))]
    reach = 2 * len(tokens) + 16 if span is None else span
    return Part(tokens, [weight] * len(tokens), need, reach, begins)


def columns(candidates: Sequence[Candidate], parts: Sequence[Part]) -> dict[str, Any]:
    """The arrays, by the names of the arguments."""
    grams: list[tuple[int, int, int]] = []
    ends = [0]
    for part in parts:
        grams += sorted(
            (gram(part.tokens[at : at + length]), at, length)
            for at, length in reference.grams_of(part)
        )
        ends.append(len(grams))
    return {
        "documents": np.array([c.document for c in candidates], "i8"),
        "parts": np.array([c.part for c in candidates], "i8"),
        "seed_offsets": np.cumsum([0, *(len(c.seeds) for c in candidates)]).astype("i8"),
        "seeds": np.array([seed for c in candidates for seed in c.seeds], "i8"),
        "n": 5,
        "part_offsets": np.cumsum([0, *(len(part.tokens) for part in parts)]).astype("i8"),
        "part_tokens": np.array([token for part in parts for token in part.tokens], "u8"),
        "part_weights": np.array([weight for part in parts for weight in part.weights], "u4"),
        "gram_offsets": np.array(ends, "i8"),
        "grams": np.array([hash_ for hash_, *_ in grams], "u8"),
        "gram_positions": np.array([at for _, at, _ in grams], "u4"),
        "gram_lengths": np.array([length for *_, length in grams], "u1"),
        "need": np.array([part.need for part in parts], "u8"),
        "span": np.array([part.span for part in parts], "u4"),
    }


def passages(texts: Any, arrays: dict[str, Any], code: bool = False) -> list[Found]:
    found = partial(_native.passages, code=code)(texts, *arrays.values())
    assert [column.dtype for column in found] == ["i8", "i8", "i8", "i8", "i8", "u8"]
    return list(zip(*(column.tolist() for column in found), strict=True))


def found_in(text: str, part: Part, seeds: Sequence[int] | None = None) -> list[Found]:
    """In one text, with seeds at all 5-grams of the part, as an index would give them."""
    tokens = [token.hash for token in reference_tokens.tokens(text)]
    if seeds is None:
        n = min(5, len(part.tokens))
        known = {tuple(part.tokens[at : at + n]) for at in range(len(part.tokens) - n + 1)}
        seeds = [at for at in range(len(tokens) - n + 1) if tuple(tokens[at : at + n]) in known]
    found = passages(strings([text]), columns([Candidate(0, 0, seeds)], [part]))
    assert [Passage(f[1], f[2], f[5]) for f in found] == reference.passages(tokens, part, seeds, 5)
    return found


# ---- cases by hand ----

ITEM = "a train leaves the old station at nine and rides for two hours how far does it get today"
BESIDE = "x y z x y z x y"
FILLER = " ".join(f"filler{i}" for i in range(30))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (ITEM, [ITEM]),
        (f"{FILLER} {ITEM} {FILLER}", [ITEM]),
        # Segments in another order; all but the borders of segments is covered.
        (
            f"{FILLER} how far does it get today a train leaves the old station at nine and rides "
            f"for two hours {FILLER}",
            ["how far does it get today a train leaves the old station at nine and rides for two "
             "hours"],
        ),
        # Twice, apart and side by side.
        (f"{ITEM} {FILLER} {FILLER} {ITEM}", [ITEM, ITEM]),
        (f"{ITEM} {ITEM}", [ITEM, ITEM]),
        # Two of 19 words replaced.
        (
            f"{FILLER} {ITEM.replace('nine', 'ten').replace('far', 'long')} {FILLER}",
            [ITEM.replace("nine", "ten").replace("far", "long")],
        ),
        # The first and the last 3-gram broken: edges take back what is equal beyond.
        (
            f"{FILLER} {ITEM.replace('leaves', 'left').replace('get', 'go')} {FILLER}",
            [ITEM.replace("leaves", "left").replace("get", "go")],
        ),
        # A 3-gram once more adds nothing, and belongs to it all the same within 8 tokens.
        (f"the old station {BESIDE} {ITEM}", [f"the old station {BESIDE} {ITEM}"]),
        (f"{ITEM} {BESIDE} the old station", [f"{ITEM} {BESIDE} the old station"]),
        (f"the old station x {BESIDE} {ITEM} x {BESIDE} the old station", [ITEM]),
        # Too little of it.
        (f"{FILLER} a train leaves the old station {FILLER}", []),
        (FILLER, []),
        ("", []),
        ("a train", []),
    ],
)  # fmt: skip
def test_cases(text: str, shown: list[str]) -> None:
    found = found_in(text, part_of(ITEM, 11))
    assert [text.encode()[start:end].decode() for _, _, _, start, end, _ in found] == shown
    tokens = reference_tokens.tokens(text)
    assert all((tokens[f].start, tokens[z].end) == (a, b) for _, f, z, a, b, _ in found)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("which bird swims best of all wren penguin tern sea gull", [(0, 10)]),
        ("q which bird swims best of all d sea gull a tern b penguin c wren x", [(1, 15)]),
        ("which bird swims best of all a tern b wren c sea gull", [(0, 12)]),  # 10 of 11
        ("which bird swims best of all a tern b wren c sea lion", []),  # 8 of 11
        ("wren wren penguin best of all swims bird which tern", []),
    ],
)
def test_lines_come_in_any_order(text: str, shown: list[tuple[int, int]]) -> None:
    part = part_of("which bird swims best of all\nwren\npenguin\ntern\nsea gull", 9)
    assert [(f[1], f[2]) for f in found_in(text, part, [0])] == shown


@pytest.mark.parametrize(
    ("item", "text", "shown"),
    [
        ("yes", "no yes no yes", [(1, 1), (3, 3)]),
        ("old station", "the old station the old stone station", [(1, 2)]),
        ("the old station", "see the old station the old stone", [(1, 3)]),
        ("the old station", "old station", []),
        ("yes", "", []),
        ("", "yes", []),
    ],
)
def test_short_parts(item: str, text: str, shown: list[tuple[int, int]]) -> None:
    part = part_of(item, max(1, len(item.split())))
    seeds = range(len(text.split()))
    assert [(f[1], f[2]) for f in found_in(text, part, seeds)] == shown


def test_a_need_of_nothing_is_no_passage() -> None:
    assert found_in(ITEM, part_of(ITEM, 0)) == []
    assert found_in(ITEM, part_of(ITEM, 1, weight=0)) == []


def test_only_near_seeds() -> None:
    text = f"{ITEM} {FILLER} {FILLER} {FILLER} {ITEM}"
    part = part_of(ITEM, 11)
    assert len(found_in(text, part, [0, 109])) == 2
    assert [f[1] for f in found_in(text, part, [109])] == [109]
    assert found_in(text, part, []) == []


def test_a_window_is_no_longer_than_the_span() -> None:
    head, tail = "a train leaves the old station", "rides for two hours how far"
    text = f"{head} x x x x {tail}"
    assert len(found_in(text, part_of(ITEM, 12, span=16))) == 1
    assert found_in(text, part_of(ITEM, 12, span=15)) == []
    assert found_in(text, part_of(ITEM, 1, span=2)) == []


def test_regions_that_touch_are_one() -> None:
    text = "u u u u u u a b c u u u u u u u"
    part = part_of("a b c", 3, span=3)

    def found(second: int) -> int:
        arrays = columns([Candidate(0, 0, [3, second])], [part]) | {"n": 1}
        return len(passages(strings([text]), arrays))

    assert [found(second) for second in (9, 10, 11)] == [1, 1, 0]  # it reaches second - 3


def test_neither_other_parts_nor_other_texts_are_seen() -> None:
    parts = [part_of("x y", 2), part_of("a b c", 3), part_of("d e", 2)]
    arrays = columns([Candidate(0, 1, [1])], parts)
    assert [f[1:3] for f in passages(strings(["y a b c d"]), arrays)] == [(1, 3)]
    arrays = columns([Candidate(0, 0, [0]), Candidate(1, 0, [0])], [part_of("a b c d", 3)])
    assert [f[1:3] for f in passages(strings(["a b c d", "a b c"]), arrays)] == [(0, 3), (0, 2)]


def test_a_candidate_leaves_nothing_to_the_next() -> None:
    texts = strings(["the old station at nine x", ITEM])
    arrays = columns([Candidate(0, 0, [0]), Candidate(1, 0, [0])], [part_of(ITEM, 19)])
    assert passages(texts, arrays) == [(1, 0, 18, 0, len(ITEM), 19)]


def test_ill_formed_bytes_and_nulls_and_slices() -> None:
    part = part_of("我 爱 北京", 4)
    broken = b"\xff \xe2\x82 A \xff" + "我-爱\xa0北京".encode() + b"\xf0\x9f"
    texts = [None, "我爱北京".encode(), broken]
    arrays = columns([Candidate(1, 0, [0]), Candidate(2, 0, [1])], [part])
    want = [(0, 0, 3, 0, 12, 4), (1, 1, 4, 8, 23, 4)]
    for large in (False, True):
        array = strings(texts, large)
        assert passages(array, arrays) == want
        assert passages(strings(["x", *texts, "y"], large)[1:-1], arrays) == want
        assert passages(pa.chunked_array([array[:1], array[1:2], array[2:]]), arrays) == want
    assert passages(strings(texts), columns([Candidate(0, 0, [])], [part])) == []


def test_code_tokens() -> None:
    text = "if a == b: return [a_b, {}]"
    tokens = [token.hash for token in reference_tokens.code_tokens(text)]
    part = Part(tokens, [1] * len(tokens), len(tokens), 100)
    arrays = columns([Candidate(0, 0, [0])], [part])
    assert passages(strings([f"{text} # done"]), arrays, code=True) == [
        (0, 0, len(tokens) - 1, 0, len(text), len(tokens))
    ]
    assert passages(strings([text]), arrays) == []
    assert passages(strings([text.replace("==", "!=")]), arrays, code=True) == []


def test_no_candidates() -> None:
    assert passages(strings([ITEM]), columns([], [part_of(ITEM, 1)])) == []
    assert passages(strings([]), columns([], [])) == []


# ---- against the reference ----

LETTERS = "abcde"
HASH = {letter: reference_tokens.token_hash(letter) for letter in LETTERS}


@st.composite
def words(draw: st.DrawFn, most: int) -> str:
    """Letters, many of which repeat what came before."""
    text = ""
    for piece in draw(st.lists(st.text(LETTERS, max_size=6) | st.integers(0, 40), max_size=14)):
        text += piece if isinstance(piece, str) else text[piece % (len(text) + 1) :][:9]
    return text[:most]


@st.composite
def made_parts(draw: st.DrawFn) -> tuple[str, Part]:
    text = draw(words(30))
    lines = draw(st.lists(st.integers(0, len(text)), max_size=8))
    weights = draw(
        st.lists(st.integers(0, 3) | st.just(2**32 - 1), min_size=len(text), max_size=len(text))
    )
    total = sum(weights)
    need = draw(st.integers(0, total + 1) | st.integers(0, 4))
    span = draw(st.integers(0, 2 * len(text) + 16) | st.just(2**32 - 1))
    return text, Part([HASH[c] for c in text], weights, need, span, lines)


@st.composite
def made(draw: st.DrawFn) -> tuple[list[str | None], list[Part], list[Candidate], int]:
    parts = draw(st.lists(made_parts(), min_size=1, max_size=3))
    texts: list[str | None] = []
    for _ in range(draw(st.integers(1, 3))):
        pieces = st.sampled_from([text for text, _ in parts]) | words(30)
        texts.append(draw(st.none() | st.lists(pieces, max_size=4).map("".join)))
    candidates = []
    for document in sorted(draw(st.lists(st.integers(0, len(texts) - 1), max_size=4))):
        length = len(texts[document] or "")
        seeds = st.lists(st.integers(0, length - 1), max_size=5) if length else st.just([])
        part = draw(st.integers(0, len(parts) - 1))
        candidates.append(Candidate(document, part, sorted(draw(seeds))))
    return texts, [part for _, part in parts], candidates, draw(st.integers(1, 9) | st.just(2**62))


@SETTINGS
@given(made())
def test_equals_the_reference(
    case: tuple[list[str | None], list[Part], list[Candidate], int],
) -> None:
    texts, parts, candidates, n = case
    arrays = columns(candidates, parts) | {"n": n}
    want = [
        (number, p.first, p.last, 2 * p.first, 2 * p.last + 1, p.covered)
        for number, candidate in enumerate(candidates)
        for p in reference.passages(
            [HASH[c] for c in texts[candidate.document] or ""],
            parts[candidate.part],
            candidate.seeds,
            n,
        )
    ]
    assert passages(strings([text and " ".join(text) for text in texts]), arrays) == want


@settings(max_examples=15, deadline=None)
@given(st.integers(60, 75), st.integers(1, 80), st.integers(0, 30), words(8))
@example(66, 66, 3, "")
@example(67, 67, 3, "")
def test_a_gram_that_repeats_more_often_than_counts(
    times: int, need: int, span: int, more: str
) -> None:
    item = "a" * times + more
    part = Part([HASH[c] for c in item], [1] * len(item), need, span)
    found_in(" ".join("a" * 20 + more + "a" * 70 + more), part, range(0, 90, 7))


# ---- time ----


SAME = part_of("a " * 2_000, 2_000)
RARE = Part([HASH[c] for c in "abc" * 1_000], [0, 0, 1] + [0] * 2_997, 1, 6_016)
"""One match is enough, and no other ever adds to it."""


@pytest.mark.parametrize(
    ("part", "unit"),
    [
        (SAME, "a "),
        (SAME._replace(need=1), "a "),
        (SAME._replace(need=66, span=2**32 - 1), "a "),
        (SAME._replace(need=67, span=2**32 - 1), "a "),
        (RARE, "a b c "),
        (RARE._replace(span=2**32 - 1), "a b c "),
    ],
)
def test_repetition_is_linear(part: Part, unit: str) -> None:
    """100,000 tokens; a step for each pair of matches in a window would take minutes."""
    tokens = 100_000
    text = unit * (2 * tokens // len(unit))
    arrays = columns([Candidate(0, 0, range(0, tokens - 50, 7))], [part])
    assert within(lambda: passages(strings([text]), arrays), 20 if SANITIZED else 2)


# ---- arrays that do not fit ----

SMALL = columns(
    [Candidate(0, 0, [0, 2]), Candidate(1, 1, [0])], [part_of(ITEM, 11), part_of("a b c d", 2)]
)
TWO = strings([ITEM, "a b c d"])


def changed(name: str, at: int, value: int) -> dict[str, Any]:
    array = SMALL[name].copy()
    array[at] = value
    return SMALL | {name: array}


def test_what_is_changed_below_fits() -> None:
    assert [f[0] for f in passages(TWO, SMALL)] == [0, 1]


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("documents", 1, 2, r"documents\[1\] is 2: expected 0 to 1"),
        ("documents", 0, -1, r"documents\[0\] is -1"),
        ("documents", 0, 2, r"documents\[0\] is 2"),
        ("parts", 0, 2, r"parts\[0\] is 2, of 2 parts"),
        ("parts", 1, -1, r"parts\[1\] is -1"),
        ("seed_offsets", 0, -1, r"seed_offsets\[0\] to \[1\] are -1 to 2"),
        ("seed_offsets", 1, 4, r"seed_offsets\[0\] to \[1\] are 0 to 4, with 3 numbers of seeds"),
        ("seed_offsets", 2, 1, r"seed_offsets\[1\] to \[2\] are 2 to 1"),
        ("seed_offsets", 2, 2**62, "seed_offsets"),
        ("seeds", 0, 3, "text 0 has a candidate whose seeds are not ascending tokens of it"),
        ("seeds", 0, -1, "text 0 has a candidate whose seeds"),
        ("seeds", 2, 4, "text 1 has a candidate whose seeds"),
        ("seeds", 2, 2**63 - 1, "text 1 has a candidate whose seeds"),
        ("part_offsets", 1, 24, r"part_offsets\[0\] to \[1\] are 0 to 24, with 23 numbers"),
        ("part_offsets", 0, -(2**63), r"part_offsets\[0\]"),
        ("gram_offsets", 2, 20, r"gram_offsets\[1\] to \[2\] are 17 to 20, with 19 numbers"),
        ("gram_positions", 0, 17, "text 0 has a candidate of a damaged part"),
        ("gram_positions", 18, 2**32 - 3, "text 1 has a candidate of a damaged part"),
    ],
)
def test_numbers_that_do_not_fit(name: str, at: int, value: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        passages(TWO, changed(name, at, value))


@pytest.mark.parametrize("name", [name for name in SMALL if name != "n"])
def test_lengths_and_types_that_do_not_fit(name: str) -> None:
    with pytest.raises(ValueError, match="numbers|are not ascending"):
        passages(TWO, SMALL | {name: SMALL[name][:-1]})
    with pytest.raises(ValueError, match=f"expected 1 dimension of {name}, got 2"):
        passages(TWO, SMALL | {name: SMALL[name].reshape(1, -1)})
    with pytest.raises(ValueError, match=f"{name} is not C-contiguous"):
        passages(TWO, SMALL | {name: np.repeat(SMALL[name], 2)[::2]})
    with pytest.raises(TypeError, match=f"array as {name}, got"):
        passages(TWO, SMALL | {name: SMALL[name].astype("f8")})


def test_other_arguments() -> None:
    with pytest.raises(ValueError, match="got n = 0"):
        passages(TWO, SMALL | {"n": 0})
    with pytest.raises(TypeError, match="got list"):
        passages(["a"], SMALL)


def test_read_only_arrays_at_any_address() -> None:
    def moved(array: Any) -> Any:
        data = b"\0" + array.tobytes()
        return np.frombuffer(data, array.dtype, offset=1)

    arrays = {name: moved(a) if name != "n" else a for name, a in SMALL.items()}
    assert passages(TWO, arrays) == passages(TWO, SMALL)


@SETTINGS
@given(
    st.sampled_from(
        ["part_tokens", "part_weights", "grams", "gram_positions", "gram_lengths", "need", "span"]
    ),
    st.binary(min_size=1, max_size=40),
)
def test_any_content_is_survived(name: str, data: bytes) -> None:
    array = SMALL[name]
    size = array.nbytes
    arrays = SMALL | {name: np.frombuffer((data * size)[:size], array.dtype)}
    try:
        found = passages(TWO, arrays)
    except ValueError as error:
        assert "a damaged part" in str(error)
    else:
        assert all(0 <= first <= last < (19, 4)[c] for c, first, last, *_ in found)
