"""What models are given: the kernels against slow references."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cleanpipe import _native

from ..times import ratio
from .hostile import TEXTS as HOSTILE
from .hostile import array_of
from .reference_models import MARKS, assigned, ccnet, part, texts
from .test_tokens import SANITIZED, Exports, strings

Array = npt.NDArray[Any]
HARD = st.lists(
    st.sampled_from(
        list("aZ09 \t\n\r\x00\x1b\x1c\x7f\x85\xa0<>/s.１²Ⅷ") + list(MARKS) + ["</s>", "</S>", "<s>"]
        + list("ÀéÅİıßẞΣσςΆ\u0301\u0307\u0323\u0308\u093c\u094d\u0903")
        + list("ハバパｶﾞ한각ᄒ中𠀀豈हिन्दीไทยที่שׁلٌ😀🄰Ⱥ")
    ),
    max_size=40,
).map("".join)  # fmt: skip
ANY = st.one_of(HARD, texts(60))
FEW = settings(deadline=None, max_examples=50 if SANITIZED else 400)


def lines(*given: str | None) -> list[str]:
    offsets, data = _native.ccnet_lines(pa.array(given, pa.large_string()))
    return cut(offsets, data)


def cut(offsets: Array, data: Array) -> list[str]:
    content = data.tobytes()
    pairs = zip(offsets.tolist(), offsets[1:].tolist(), strict=False)
    return [content[start:end].decode() for start, end in pairs]


@FEW
@given(st.lists(ANY, max_size=4))
@example([" \x1c a"])
@example(["ΑΣ", "Σ", "ΑΣ\u0301Α", "Α.Σ", "\u0345Σ"])
@example(["\u0344\u0323 \u1e9b\u0323", "각\u11a8", "\u0f73\u0f71"])
def test_ccnet(given: list[str]) -> None:
    assert lines(*given) == [ccnet(text) for text in given]


def test_ccnet_of_every_character() -> None:
    every = [char for char in map(chr, range(0x110000)) if assigned(char)]
    wanted = [ccnet(f"a{char}b") for char in every]
    assert lines(*(f"a{char}b" for char in every)) == wanted


@FEW
@given(
    st.lists(ANY, max_size=4), st.integers(0, 30), st.integers(0, 9), st.booleans(), st.booleans()
)
@example(["ΟΔΟΣ ΟΔΟΣ."], 0, 0, True, True)
@example(["İI"], 0, 0, False, True)
@example(["</s>", "a</s>", "</s>s", "<</s>/s>"], 0, 0, False, False)
def test_parts(
    given: list[str], characters: int, stretch: int, spaced: bool, lowered: bool
) -> None:
    found = _native.model_parts(
        pa.array(given, pa.string()), characters, stretch, spaced=spaced, lowered=lowered
    )
    wanted = [part(text, characters, stretch, spaced=spaced, lowered=lowered) for text in given]
    assert cut(*found) == wanted


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_slices_chunks_and_nulls(kind: pa.DataType) -> None:
    whole = pa.array(["x", "Ab. c", None, "", "d\ne"], kind)
    chunked = pa.chunked_array([whole.slice(1, 2), whole.slice(3)])
    wanted = [["ab .\n", "c\n"], [], [], ["d\n", "e\n"]]
    for export in (whole.slice(1), chunked, Exports(whole.slice(1).__arrow_c_array__())):
        assert cut(*_native.ccnet_lines(export)) == ["ab. c", "", "", "de"]
        assert cut(*_native.model_parts(export, 3)) == ["Ab.\n", "", "", "d e\n"]
        prepared = _native.prepared(export, "words", np.zeros(17, np.uint64))
        first, tokens, known = (array.tolist() for array in prepared[:3])
        pairs = zip(first, first[1:], strict=False)
        found = [prepared[-1][start:end].decode().splitlines(keepends=True) for start, end in pairs]
        assert found == wanted
        assert (tokens, known) == ([3, 0, 0, 2], [0, 0, 0, 0])


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts(name: str) -> None:
    """Ill-formed ones too: each ill-formed sequence is U+FFFD, as Python decodes it."""
    raw = HOSTILE[name](3000)
    text = raw.decode("utf-8", "replace")
    assert cut(*_native.ccnet_lines(array_of(raw))) == [ccnet(text)]
    made = cut(*_native.model_parts(array_of(raw), 0, spaced=True, lowered=True))
    assert made == [part(text, 0, spaced=True, lowered=True)]
    for profile in ("words", "characters"):
        *_, data = _native.prepared(array_of(raw), profile, np.zeros(17, np.uint64))
        data.decode()


KERNELS: dict[str, Callable[[Any], object]] = {
    "words": lambda array: _native.prepared(array, "words", np.zeros(17, np.uint64)),
    "characters": lambda array: _native.prepared(array, "characters", np.zeros(17, np.uint64)),
    "ccnet": _native.ccnet_lines,
    "parts": partial(_native.model_parts, characters=0, spaced=True, lowered=True),
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "unit", ["a\u0301\u0323", "\u0301\u0327", "Σ", "\u0345Σ", "\u00ad", ".", "。", "한", "a"]
)
def test_time_is_linear(kernel: str, unit: str) -> None:
    def array(size: int) -> pa.Array:
        return pa.array(["A" + unit * (size // len(unit.encode()))], pa.large_string())

    short, long = (partial(KERNELS[kernel], array(size)) for size in (1 << 16, 1 << 18))
    assert ratio(long, short, 12, 0.02) < 12


def vocabulary(words: dict[str, bool], into: Array | None = None) -> Array:
    data = "".join(words).encode()
    ends = np.cumsum([0, *(len(word.encode()) for word in words)])
    flags = np.array(list(words.values()), np.uint8)
    start = np.zeros(17, np.uint64) if into is None else into
    return _native.vocabulary_with(
        start, np.frombuffer(data, np.uint8), ends[:-1].copy(), ends[1:].copy(), flags
    )


@FEW
@given(
    st.dictionaries(texts(12), st.booleans(), max_size=40), st.lists(st.text("ab .", max_size=30))
)
def test_what_is_known(words: dict[str, bool], given: list[str]) -> None:
    words |= {"a": True, "ab": False, "b": True}
    known = vocabulary(words)
    assert known[0] == len(words)
    lines, tokens, found, starts, stops, unseen, offsets, content = _native.prepared(
        pa.array(given, pa.string()), "words", known
    )
    fresh = [content[a:b].decode() for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
    assert len(set(fresh)) == len(fresh) and not set(fresh) & words.keys()
    for place in range(len(given)):
        mine = content[lines[place] : lines[place + 1]].decode().split()
        assert tokens[place] == len(mine)
        assert found[place] == sum(words.get(token, False) for token in mine)
        lacking = [fresh[number] for number in unseen[offsets[place] : offsets[place + 1]]]
        assert lacking == [token for token in mine if token not in words]


def test_a_vocabulary_grows() -> None:
    names = [f"{a}{b}{c}" for a in "abcdefghijklmno" for b in "pqrstuvwxyz" for c in "abcdefghijkl"]
    known = vocabulary({name: at % 3 == 0 for at, name in enumerate(names[:1000])})
    known = vocabulary(dict.fromkeys(names[900:], True), known)
    assert known[0] == len(names), "what is there stays as it is"
    found = _native.prepared(pa.array(names), "characters", known)[2]
    assert found.tolist() == [int(at % 3 == 0 or at >= 1000) for at in range(len(names))]


SIZES = ((16, 0), (3, 0), (17, 1), (17, 9), (0, 0))


@pytest.mark.parametrize("broken", [np.full(size, number, "u8") for size, number in SIZES])
def test_what_is_no_vocabulary(broken: Array) -> None:
    with pytest.raises(ValueError, match="vocabulary is none"):
        _native.prepared(strings(["a"]), "words", broken)


def test_wrong_arguments() -> None:
    none = np.zeros(17, np.uint64)
    with pytest.raises(ValueError, match="profile is words or characters, got ccnet"):
        _native.prepared(strings(["a"]), "ccnet", none)
    with pytest.raises(ValueError, match="at least 0"):
        _native.model_parts(strings(["a"]), -1)
    word, data = np.array([0]), np.frombuffer(b"a", np.uint8)
    for starts, stops, flags in (
        (word, np.array([2]), np.ones(1, np.uint8)),
        (np.array([1]), word, np.ones(1, np.uint8)),
        (word, word, np.ones(2, np.uint8)),
    ):
        with pytest.raises(ValueError, match="of words in the bytes"):
            _native.vocabulary_with(none, data, starts, stops, flags)
