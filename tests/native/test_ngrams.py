"""The n-gram kernel against docs/tokens.md and a slow reference."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleanpipe import _native

from . import reference_tokens as reference

DOCUMENT = Path(__file__).parents[2].joinpath("docs", "tokens.md").read_text(encoding="utf-8")
BASE = 0x9E3779B97F4A7C15


def gram(tokens: Sequence[int]) -> int:
    total = sum(hash_ * BASE**power for power, hash_ in enumerate(reversed(tokens)))
    return reference.mix(total % 2**64)


def expected(text: str, n: int) -> list[int]:
    hashes = [token.hash for token in reference.tokens(text)]
    size = min(n, len(hashes))
    return [gram(hashes[at : at + size]) for at in range(len(hashes) - size + 1)] if size else []


def found(texts: Sequence[str | None], n: int) -> list[list[int]]:
    offsets, hashes = _native.ngrams(pa.array(texts, pa.string()), n)
    return [hashes[a:b].tolist() for a, b in pairwise(offsets.tolist())]


TOKENS = st.sampled_from(["a", "b", "ab", "我", "ไ", "é", "-", "internationalization"])
TEXTS = st.lists(st.none() | st.lists(TOKENS, max_size=12).map(" ".join), max_size=5)


@given(TEXTS, st.integers(1, 14) | st.just(2**40))
def test_they_equal_the_reference(texts: list[str | None], n: int) -> None:
    assert found(texts, n) == [expected(text or "", n) for text in texts]


def test_hashes_of_the_document() -> None:
    section = DOCUMENT.split("## N-grams")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(.+)` \| `([0-9a-f]{16})` \|$", section, re.MULTILINE)
    assert len(rows) == 2
    for text, shown in rows:
        [[hash_]] = found([text], 99)
        assert f"{hash_:016x}" == shown


# Written down once more, so that no edit of document and code together changes them unnoticed.
def test_golden_hashes() -> None:
    assert found(["the quick brown", "我爱北京"], 4) == [[0xAB0CDB60611AF86E], [0xD8088C170F45E8D7]]


def test_a_short_text_is_one_gram() -> None:
    short, exact, none = found(["a b", "a b c", " — "], 3)
    assert short == found(["a b"], 2)[0]
    assert len(exact) == 1
    assert none == []


@pytest.mark.parametrize("n", [0, -1])
def test_no_tokens_a_gram(n: int) -> None:
    with pytest.raises(ValueError, match=f"at least 1 token, got n = {n}"):
        found(["a"], n)
