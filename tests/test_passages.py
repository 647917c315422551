"""Passages in common, and how they are shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleanpipe.passages import marked, shared_passages


@pytest.mark.parametrize(
    ("text", "other", "shared"),
    [
        ("a b c d", "x a B c, d y", ["a b c d"]),
        ("a b c x c d e", "c d e - a b c", ["a b c", "c d e"]),
        ("我爱北京天安门。", "他也爱北京天安门！", ["爱北京天安门"]),
        ("a b", "c a b d", []),
        ("a b", "a b", ["a b"]),
        ("", "a b c", []),
        ("a b c", "", []),
        ("a a a a a", "a a a a", ["a a a a"]),
    ],
)
def test_passages(text: str, other: str, shared: list[str]) -> None:
    found = shared_passages(text, other, 3)
    assert [text.encode()[p.start : p.end].decode() for p in found] == shared
    assert all(p.end <= q.start for p, q in zip(found, found[1:], strict=False))


WORDS = st.lists(st.sampled_from("abc"), max_size=12).map(" ".join)


@given(WORDS, WORDS, st.integers(1, 5))
def test_both_sides_have_the_same_tokens(text: str, other: str, least: int) -> None:
    for p in shared_passages(text, other, least):
        here, there = text[p.start : p.end].split(), other[p.other_start : p.other_end].split()
        assert here == there
        assert len(here) == p.tokens


def test_marked() -> None:
    assert marked("ab é cd", [(0, 2), (3, 5)]) == "⟦ab⟧ ⟦é⟧ cd"
    assert marked("abcdef", [(0, 4), (2, 5)]) == "⟦abcde⟧ f"
    assert marked("a" * 100, [], width=10) == "aaaa … aaaa"
    assert marked("a b c d", [(0, 1), (4, 5)], most=2) == "⟦a⟧ b … and 2 more pieces"
    assert marked("", []) == ""
